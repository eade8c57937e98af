import { Migration } from '@mikro-orm/migrations'
import { DISPUTE_REASONS } from '../../billing/dispute-reasons.ts'

/** The networks' texts for the reason codes of existing disputes. */
export class Migration20261122164200_dispute_reasons extends Migration {
  override up(): void {
    const texts = Object.values(DISPUTE_REASONS).flatMap((codes) => Object.entries(codes))
    const rows = texts.map((row) => `(${row.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ')})`)
    this.addSql(
      `update disputes set reason_description = reason.text from (values ${rows.join(', ')}) as reason (code, text)
        where disputes.reason_code = reason.code and disputes.reason_description is null
          and disputes.type <> 'bank-return'`,
    )
  }
}
