import { test } from 'tap'
import { PublicAddress } from '../../../src/http/origins.ts'

const nothing = { publicUrl: null, assetBaseUrl: null, allowedOrigins: [], port: 3000 }

test('without PUBLIC_URL the address is this machine at the listening port', async (t) => {
  const address = new PublicAddress({ ...nothing, port: 0 })
  address.setPort(4711)
  t.equal(address.url, 'http://127.0.0.1:4711')
  t.equal(address.assetBaseUrl, 'http://127.0.0.1:4711/assets')
  const { isAllowedOrigin } = address
  for (const origin of ['http://127.0.0.1:4711', 'http://localhost:4711']) t.ok(isAllowedOrigin(origin), origin)
  for (const origin of ['http://localhost:3000', 'https://localhost:4711', 'http://127.0.0.1:0', 'null', '*', '']) {
    t.notOk(isAllowedOrigin(origin), origin)
  }
  t.ok(new PublicAddress({ ...nothing, port: 80 }).isAllowedOrigin('http://localhost'), 'as browsers write it')
})

test('with PUBLIC_URL the address is that URL', async (t) => {
  const given = { ...nothing, publicUrl: 'https://economy.example/live', allowedOrigins: ['https://app.example'] }
  const address = new PublicAddress(given)
  t.equal(address.url, 'https://economy.example/live')
  t.equal(address.assetBaseUrl, 'https://economy.example/live/assets')
  for (const origin of ['https://economy.example', 'https://app.example']) t.ok(address.isAllowedOrigin(origin), origin)
  for (const origin of ['http://economy.example', 'http://127.0.0.1:3000', 'https://x.app.example']) {
    t.notOk(address.isAllowedOrigin(origin), origin)
  }
  t.equal(new PublicAddress({ ...given, assetBaseUrl: 'https://cdn.example' }).assetBaseUrl, 'https://cdn.example')
})
