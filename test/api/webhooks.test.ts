import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ApiClient } from '../support/api-client.ts'
import { startService, type TestService } from '../support/service.ts'

describe('webhooks', () => {
  let service: TestService
  let api: ApiClient

  beforeAll(async () => {
    service = await startService({ worker: false })
    api = (await service.organization()).api
  })
  afterAll(() => service.stop())

  const put = (id: string, body: object) =>
    api.send('PUT', `webhooks/${id}`, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    })

  test('a new one needs a URL alone; everything else has a default', async () => {
    const missing = await api.post('webhooks', {})
    expect(missing).toMatchObject({ status: 422, body: { invalidFields: [{ field: 'url' }] } })
    const url = 'https://receiver.example/hooks'
    const { status, body } = await api.post('webhooks', { url })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^wh_[0-9A-Z]{26}$/),
      url,
      method: 'POST',
      eventsFilter: [],
      status: 'active',
      websiteId: null,
      credentialHash: null,
      headers: [],
      body: null,
      filter: null,
      deactivationReason: null,
      consecutiveFailures: 0,
      firstFailureTime: null,
      revision: 1,
      createdTime: expect.any(String),
      updatedTime: body.createdTime,
      _links: [{ rel: 'self', href: expect.stringContaining(`/webhooks/${body.id}`) }],
    })
    expect((await api.delete(`webhooks/${body.id}`)).status).toBe(204)
  })

  test('its failures and the reason of its deactivation are read-only', async () => {
    const told = {
      deactivationReason: 'told',
      consecutiveFailures: 69,
      firstFailureTime: '2026-01-01T00:00:00Z',
    }
    const made = await api.post('webhooks', { url: 'https://receiver.example/', ...told })
    const changed = await put(String(made.body.id), { url: 'https://other.example/', ...told })
    for (const { body } of [made, changed]) {
      expect(body).toMatchObject({
        deactivationReason: null,
        consecutiveFailures: 0,
        firstFailureTime: null,
      })
    }
    expect(changed).toMatchObject({ status: 200, body: { url: 'https://other.example/' } })
    expect((await api.delete(`webhooks/${made.body.id}`)).status).toBe(204)
  })

  test.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://3232235777/',
    'http://0xa000001/',
    'http://012.0.0.1/',
    'http://[::ffff:192.168.0.1]/',
    'http://[64:ff9b::a00:1]/',
    'http://[64:ff9b:1::a00:1]/',
    'http://[fd00::1]/',
    'https://user:secret@shop.example/',
    'https://user@shop.example/',
    'ftp://shop.example/',
    'file:///etc/passwd',
  ])('%s is refused with 422 by POST and PUT', async (url) => {
    for (const response of [await api.post('webhooks', { url }), await put('wh-new', { url })]) {
      expect(response).toMatchObject({ status: 422, body: { invalidFields: [{ field: 'url' }] } })
    }
    expect((await api.get('webhooks/wh-new')).status).toBe(404)
  })

  test('a URL that stood before its network was closed can be sent back unchanged', async () => {
    const { body } = await api.post('webhooks', { url: 'http://127.0.0.1:9/' })
    await service.database.orm.em
      .fork()
      .getConnection()
      .execute('update webhooks set url = ? where id = ?', ['http://10.0.0.1/', body.id])
    const shown = (await api.get(`webhooks/${body.id}`)).body
    expect((await put(String(body.id), shown)).status).toBe(200)
    expect((await put(String(body.id), { ...shown, url: 'http://10.0.0.2/' })).status).toBe(422)
  })
})
