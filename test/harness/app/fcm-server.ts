import { generateKeyPairSync, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

interface Test {
  teardown(work: () => Promise<void>): void
}

/** An answer of FCM: a status with an error of its own, `hang` for none at all, or `accept` for the message's name. */
export type Reply =
  | 'accept'
  | 'hang'
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }

/** A message as FCM was asked to send it. */
export interface ReceivedMessage {
  readonly token: string
  readonly message: Readonly<Record<string, unknown>>
  readonly at: number
}

/** Speaks the parts of Google's protocols that we use, and is as strict as Google. */
export interface FcmServer {
  readonly origin: string
  /** JSON of a service account whose access tokens come from here. */
  readonly account: string
  /** Every message that came with a good access token, in order. */
  readonly received: readonly ReceivedMessage[]
  /** Access tokens that were given out. */
  readonly tokens: readonly string[]
  /** Whatever was sent that Google would not take: there should be none. */
  readonly violations: readonly string[]
  /** How messages to a device are answered, one after the other; then, as all others, accepted. */
  answer(token: string, ...replies: readonly Reply[]): void
  /** How all are answered from now on; null: as above. */
  answerAll(reply: Reply | null): void
  /** How the next requests for an access token are answered. */
  answerTokens(...replies: readonly Reply[]): void
  /** Access tokens given out so far are no good any more. */
  revoke(): void
  /** Refuses connections from now on. */
  down(): Promise<void>
  up(): Promise<void>
}

/** An error as FCM tells it. */
export const fcmError = (status: number, errorCode: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers,
  body: {
    error: {
      code: status,
      message: 'told by a test',
      status: 'SOMETHING',
      details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }],
    },
  },
})

export const unregistered = fcmError(404, 'UNREGISTERED')

const PROJECT = 'live-economy-test'
const EMAIL = `push@${PROJECT}.iam.gserviceaccount.com`

export async function fcmServer(t: Test): Promise<FcmServer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const received: ReceivedMessage[] = []
  const tokens: string[] = []
  const violations: string[] = []
  const replies = new Map<string, Reply[]>()
  const tokenReplies: Reply[] = []
  let all: Reply | null = null
  let good = new Set<string>()

  const answer = (response: ServerResponse, reply: Reply, accepted: unknown): void => {
    if (reply === 'hang') return
    const { status, body, headers = {} } = reply === 'accept' ? { status: 200, body: accepted } : reply
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined ? '' : JSON.stringify(body))
  }

  const giveToken = (text: string, response: ServerResponse): void => {
    const form = new URLSearchParams(text)
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const { iss, scope, aud, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    const now = Date.now() / 1000
    const isGood =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      alg === 'RS256' &&
      kid === 'key-1' &&
      iss === EMAIL &&
      scope === 'https://www.googleapis.com/auth/firebase.messaging' &&
      aud === `${origin()}/token` &&
      Math.abs(iat - now) < 5 &&
      exp - iat <= 3_600 &&
      verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
    if (!isGood) {
      violations.push('a bad assertion')
      return answer(response, { status: 400, body: { error: 'invalid_grant' } }, null)
    }
    const reply = tokenReplies.shift() ?? 'accept'
    const access_token = `access-${tokens.length + 1}`
    if (reply === 'accept') {
      tokens.push(access_token)
      good.add(access_token)
    }
    answer(response, reply, { access_token, expires_in: 3_599, token_type: 'Bearer' })
  }

  const takeMessage = (request: IncomingMessage, text: string, response: ServerResponse): void => {
    const bearer = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    if (!good.has(bearer)) return answer(response, fcmError(401, 'UNAUTHENTICATED'), null)
    const { message } = JSON.parse(text)
    const isGood =
      Object.keys(message).every((key) => ['token', 'notification', 'data', 'android', 'apns'].includes(key)) &&
      Object.values(message.data).every((value) => typeof value === 'string')
    if (!isGood) {
      violations.push('a bad message')
      return answer(response, fcmError(400, 'INVALID_ARGUMENT'), null)
    }
    received.push({ token: message.token, message, at: performance.now() })
    const reply = all ?? replies.get(message.token)?.shift() ?? 'accept'
    answer(response, reply, { name: `projects/${PROJECT}/messages/${received.length}` })
  }

  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      if (request.method !== 'POST') response.writeHead(405).end()
      else if (request.url === '/token') giveToken(text, response)
      else if (request.url === `/v1/projects/${PROJECT}/messages:send`) takeMessage(request, text, response)
      else response.writeHead(404).end()
    })
  })
  let port = 0
  const up = async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
  }
  const down = async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  const origin = (): string => `http://127.0.0.1:${port}`
  await up()
  t.teardown(async () => {
    if (server.listening) await down()
  })
  return {
    origin: origin(),
    account: JSON.stringify({
      type: 'service_account',
      project_id: PROJECT,
      private_key_id: 'key-1',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: EMAIL,
      token_uri: `${origin()}/token`,
    }),
    received,
    tokens,
    violations,
    answer: (token, ...some) => void replies.set(token, [...some]),
    answerAll: (reply) => {
      all = reply
    },
    answerTokens: (...some) => void tokenReplies.push(...some),
    revoke: () => {
      good = new Set()
    },
    down,
    up,
  }
}
