import { defineEntity, p } from '@mikro-orm/core'

const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    name: p.string().length(50).primary(),
    value: p.text(),
  },
})

/** Facts of this installation, made once: its id, its lookup key (encrypted). */
export class Installation extends InstallationSchema.class {}
InstallationSchema.setClass(Installation)
