import { describe, expect, test } from '@jest/globals'
import { createNames, NameError, parseHosts, type Resolve } from '../../delivery/names.ts'
import { OwnFaultError } from '../../delivery/own-fault.ts'

const FOUND = [{ address: '192.0.2.1', family: 4 }]

function heldResolver() {
  const asked: string[] = []
  const ends = new Map<string, () => void>()
  const resolve: Resolve = (name) => {
    asked.push(name)
    return new Promise((found) => ends.set(name, () => found(FOUND)))
  }
  return { asked, resolve, end: (name: string) => ends.get(name)?.() }
}

describe('the names of receivers', () => {
  test('are looked up once for all who ask meanwhile', async () => {
    const { asked, resolve, end } = heldResolver()
    const names = createNames({ resolve })
    const all = [names('a.example', 'org_1'), names('a.example', 'org_1'), names('a.example', 'org_2')]
    await Promise.resolve()
    end('a.example')
    expect(await Promise.all(all)).toEqual([FOUND, FOUND, FOUND])
    expect(asked).toEqual(['a.example'])
  })

  test('that are slow hold up their organization, by a fault that is not the name’s, and no other', async () => {
    const { asked, resolve, end } = heldResolver()
    const names = createNames({ resolve, timeout: 200, perOrganization: 2 })
    const late = ['a', 'b', 'c'].map((name) =>
      names(`${name}.example`, 'org_1').catch((error: unknown) => error),
    )
    const other = names('d.example', 'org_2')
    await Promise.resolve()
    end('d.example')
    expect(await other).toEqual(FOUND)
    const [a, b, c] = await Promise.all(late)
    expect([a, b]).toEqual([expect.any(NameError), expect.any(NameError)])
    expect(c).toBeInstanceOf(OwnFaultError)
    expect(asked).toEqual(['a.example', 'b.example', 'd.example'])
    // Their places are free when their look-ups end, not when nobody waits for them any more.
    end('a.example')
    await new Promise(setImmediate)
    const next = names('e.example', 'org_1')
    await new Promise(setImmediate)
    end('e.example')
    expect(await next).toEqual(FOUND)
  })

  test('in the hosts file go ahead of DNS', () => {
    const hosts = parseHosts('127.0.0.1 Local one # two\n::1\tlocal\n\n# 10.0.0.1 three')
    expect(Object.fromEntries(hosts)).toEqual({
      local: [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ],
      one: [{ address: '127.0.0.1', family: 4 }],
      localhost: [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ],
    })
  })
})
