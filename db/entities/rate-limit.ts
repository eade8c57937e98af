import { defineEntity, p } from '@mikro-orm/core'

const RateLimitSchema = defineEntity({
  name: 'RateLimit',
  tableName: 'rate_limits',
  properties: {
    key: p.string().primary(),
    points: p.integer().default(0),
    /** Milliseconds since the epoch. */
    expire: p.bigint('number').nullable(),
  },
})

/** The rate limiter's library writes it. */
export class RateLimit extends RateLimitSchema.class {}
RateLimitSchema.setClass(RateLimit)
