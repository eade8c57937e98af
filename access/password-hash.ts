import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

export interface PasswordHasher {
  hash(password: string): Promise<string>
  /** True if the hash is that of the password. A hash of null takes as long and is never true. */
  verify(password: string, hash: string | null): Promise<boolean>
}

const PARAMETERS = { ln: 15, r: 8, p: 3 } as const
const KEY_LENGTH = 32
const FORMAT = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/
/** Uses scrypt: 32 MiB, three passes, a tenth of a second. A hash carries its parameters, so that they can rise. */
export function createPasswordHasher(): PasswordHasher {
  const keyOf = (password: string, salt: Buffer, { ln, r, p } = PARAMETERS as Parameters): Promise<Buffer> =>
    derive(password.normalize('NFKC'), salt, { N: 2 ** ln, r, p, maxmem: 512 * r * (2 ** ln + p) })
  return {
    async hash(password) {
      const salt = randomBytes(16)
      const key = await keyOf(password, salt)
      const { ln, r, p } = PARAMETERS
      return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${key.toString('base64url')}`
    },
    async verify(password, hash) {
      const parts = hash === null ? null : FORMAT.exec(hash)
      if (parts === null) {
        await keyOf(password, Buffer.alloc(16))
        return false
      }
      const [, ln, r, p, salt = '', key = ''] = parts
      const parameters = { ln: Number(ln), r: Number(r), p: Number(p) }
      const found = await keyOf(password, Buffer.from(salt, 'base64url'), parameters)
      const wanted = Buffer.from(key, 'base64url')
      return found.length === wanted.length && timingSafeEqual(found, wanted)
    },
  }
}

interface Parameters {
  /** Logarithm of the cost to base 2. */
  readonly ln: number
  readonly r: number
  readonly p: number
}

function derive(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_LENGTH, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
}
