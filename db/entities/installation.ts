import { defineEntity, p } from '@mikro-orm/core'

const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    name: p.string().length(50).primary(),
    value: p.text(),
  },
})

/** Facts that an installation creates once: its id and its encrypted lookup key. */
export class Installation extends InstallationSchema.class {}
InstallationSchema.setClass(Installation)
