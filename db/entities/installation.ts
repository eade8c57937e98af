import { defineEntity, p } from '@mikro-orm/core'

const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    name: p.string().length(50).primary(),
    value: p.text(),
  },
})

export class Installation extends InstallationSchema.class {}
InstallationSchema.setClass(Installation)
