import { test } from 'tap'
import { readServiceAccount } from '../../src/config/credentials.ts'
import { backoffMs } from '../../src/notifications/dispatcher.ts'
import { fcmSender, retryAfterMs } from '../../src/notifications/fcm-sender.ts'
import type { Outcome, Send } from '../../src/notifications/outbox.ts'
import { type FcmServer, fcmError, fcmServer, type Reply, unregistered } from '../harness/app/fcm-server.ts'

const notification = {
  title: 'New privilege',
  body: 'Aya sent VIP',
  type: 'reward',
  identifier: 'privilege-package-wallet',
} as const
const delivery = { token: 'device-1', position: 12, notification }

function sender({ account, origin }: FcmServer, signal = new AbortController().signal): Send {
  return fcmSender(readServiceAccount(account), origin, signal)
}

test('messages have all fields of a notification and share an access token', async (t) => {
  const fcm = await fcmServer(t)
  const send = sender(fcm)
  const outcomes = await Promise.all(['a', 'b', 'c'].map((token) => send({ ...delivery, token })))
  t.same(outcomes, [{ kind: 'delivered' }, { kind: 'delivered' }, { kind: 'delivered' }])
  t.equal(fcm.tokens.length, 1, 'requested once')
  t.same(fcm.violations, [])
  t.same(fcm.received.map(({ token }) => token).sort(), ['a', 'b', 'c'])
  const tag = 'privilege-package-wallet-12'
  t.same(fcm.received.find(({ token }) => token === 'a')?.message, {
    token: 'a',
    notification: { title: 'New privilege', body: 'Aya sent VIP' },
    data: { type: 'reward', identifier: 'privilege-package-wallet' },
    android: { notification: { tag } },
    apns: { headers: { 'apns-collapse-id': tag } },
  })
})

test('the id of a withdrawal is sent as text, as FCM requires', async (t) => {
  const fcm = await fcmServer(t)
  const about = { type: 'withdrawal', identifier: 'agency-withdrawal' } as const
  await sender(fcm)({ ...delivery, notification: { ...notification, ...about, withdrawal_id: 38 } })
  t.match(fcm.received[0]?.message, {
    notification: { title: 'New privilege', body: 'Aya sent VIP' },
    data: { ...about, withdrawal_id: '38' },
    android: { notification: { tag: 'agency-withdrawal-12' } },
  })
  t.same(fcm.violations, [])
})

test('outcomes by FCM response', async (t) => {
  const fcm = await fcmServer(t)
  const send = sender(fcm)
  const badRequest = (...fields: string[]): Reply => ({
    status: 400,
    body: {
      error: {
        message: 'Invalid value',
        details: [{ errorCode: 'INVALID_ARGUMENT' }, { fieldViolations: fields.map((field) => ({ field })) }],
      },
    },
  })
  const notAToken: Reply = {
    status: 400,
    body: {
      error: {
        message: 'The registration token is not a valid FCM registration token',
        details: [{ errorCode: 'INVALID_ARGUMENT' }],
      },
    },
  }
  const later = (why: string, afterMs = 0, isDeviceOnly = false): Outcome => ({
    kind: 'later',
    why,
    isDeviceOnly,
    afterMs,
  })
  const gone: Outcome = { kind: 'gone' }
  const rows: readonly (readonly [string, Reply, Outcome])[] = [
    ['accepted', 'accept', { kind: 'delivered' }],
    ['unregistered', unregistered, gone],
    [
      'not found, and not because of the token',
      { status: 404, body: { error: { message: 'Not found' } } },
      later('404'),
    ],
    ['a text that is not a token', notAToken, gone],
    ['a bad token, by field', badRequest('message.token'), gone],
    ['a bad message', badRequest('message.notification.body'), later('400 INVALID_ARGUMENT', 0, true)],
    ['both', badRequest('message.token', 'message.data'), later('400 INVALID_ARGUMENT', 0, true)],
    ['another 400', fcmError(400, 'INVALID_ARGUMENT'), later('400 INVALID_ARGUMENT', 0, true)],
    ['another sender’s', fcmError(403, 'SENDER_ID_MISMATCH'), later('403 SENDER_ID_MISMATCH', 0, true)],
    ['forbidden', fcmError(403, 'PERMISSION_DENIED'), later('403 PERMISSION_DENIED')],
    ['too much', fcmError(429, 'QUOTA_EXCEEDED', { 'retry-after': '7' }), later('429 QUOTA_EXCEEDED', 7_000)],
    ['quota without Retry-After', fcmError(429, 'QUOTA_EXCEEDED'), later('429 QUOTA_EXCEEDED', 60_000)],
    ['broken', fcmError(500, 'INTERNAL'), later('500 INTERNAL')],
    ['unavailable', fcmError(503, 'UNAVAILABLE', { 'retry-after': '3' }), later('503 UNAVAILABLE', 3_000)],
    ['not FCM', { status: 502, body: 'a page of some proxy' }, later('502')],
    ['not an error code', fcmError(500, 'a token: device-1'), later('500')],
    ['elsewhere', { status: 307, headers: { location: `${fcm.origin}/elsewhere` } }, later('TypeError')],
  ]
  for (const [name, reply, outcome] of rows) {
    fcm.answer(delivery.token, reply)
    t.same(await send(delivery), outcome, name)
  }
  t.equal(fcm.tokens.length, 1)
})

test('a refused access token is replaced', async (t) => {
  const fcm = await fcmServer(t)
  const send = sender(fcm)
  t.same(await send(delivery), { kind: 'delivered' })
  fcm.revoke()
  t.match(await send(delivery), { kind: 'later', why: '401 UNAUTHENTICATED', isDeviceOnly: false })
  t.same(await send(delivery), { kind: 'delivered' })
  t.same(fcm.tokens, ['access-1', 'access-2'])
})

test('failures to get an access token', async (t) => {
  const fcm = await fcmServer(t)
  const send = sender(fcm)
  fcm.answerTokens(
    { status: 400, body: { error: 'invalid_grant' } },
    { status: 503, headers: { 'retry-after': '2' } },
    { status: 200, body: { access_token: '' } },
  )
  const whys = [await send(delivery), await send(delivery), await send(delivery)]
  t.match(whys, [
    { kind: 'later', why: 'no access token: 400', isDeviceOnly: false, afterMs: 0 },
    { why: 'no access token: 503', afterMs: 2_000 },
    { why: 'no access token: 200' },
  ])
  t.same(await send(delivery), { kind: 'delivered' })
  await fcm.down()
  t.match(await send(delivery), { kind: 'later', why: /^(ECONNREFUSED|UND_ERR_SOCKET)$/ })
  t.match(await sender(fcm)(delivery), { kind: 'later', why: 'no access token: ECONNREFUSED' })
})

test('requests time out and can be aborted', async (t) => {
  const fcm = await fcmServer(t)
  const giveUp = new AbortController()
  const send = sender(fcm, giveUp.signal)
  t.same(await send(delivery), { kind: 'delivered' })
  fcm.answer(delivery.token, 'hang', 'hang')
  const started = performance.now()
  t.match(await send(delivery), { kind: 'later', why: 'TimeoutError' })
  const took = performance.now() - started
  t.ok(took > 4_500, `after ${took} ms`)
  setTimeout(() => giveUp.abort(), 50)
  t.match(await send(delivery), { kind: 'later', why: 'AbortError' })
})

test('delays by backoff and Retry-After', async (t) => {
  const waits = [1, 2, 3, 4, 12, 13, 1_000].map((failures) => backoffMs(failures, 0, 3_600_000, 1))
  t.same(waits, [1_000, 2_000, 4_000, 8_000, 2_048_000, 3_600_000, 3_600_000])
  t.equal(backoffMs(4, 0, 3_600_000, 0), 4_000, 'at least half of it')
  for (const chance of [0, 0.5, 1]) {
    const asked = backoffMs(1, 60_000, 3_600_000, chance)
    t.ok(asked >= 60_000 && asked <= 72_000, 'never less than requested')
    t.ok(backoffMs(1, 1e12, 3_600_000, chance) <= 1.2 * 86_400_000, 'and not for ever')
  }
  t.equal(backoffMs(9, 1_000, 3_600_000, 1), 256_000, 'the longer of both delays')

  const now = Date.UTC(2026, 10, 21)
  t.equal(retryAfterMs(null, now), 0)
  t.equal(retryAfterMs('5', now), 5_000)
  t.equal(retryAfterMs('Sat, 21 Nov 2026 00:00:30 GMT', now), 30_000)
  t.equal(retryAfterMs('Fri, 20 Nov 2026 00:00:00 GMT', now), 0)
  t.equal(retryAfterMs('soon', now), 0)
})
