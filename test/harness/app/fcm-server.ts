import { generateKeyPairSync, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenOn } from '../process/listen-on.ts'
import { reservePort } from '../process/reserve-port.ts'
import type { Scope } from '../scope.ts'

/** A reply of FCM: `accept`, an error, or `hang` for no reply at all. */
export type Reply =
  | 'accept'
  | 'hang'
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }

/** A message that FCM received. */
interface ReceivedMessage {
  readonly token: string
  readonly message: Readonly<Record<string, unknown>>
  readonly at: number
}

/** A fake of FCM and Google's token endpoint, as strict as the real ones in the parts that the service uses. */
export interface FcmServer {
  readonly origin: string
  /** JSON of a service account whose token endpoint is this server. */
  readonly account: string
  /** Every message with a valid access token, in order. */
  readonly received: readonly ReceivedMessage[]
  /** Access tokens that were issued. */
  readonly tokens: readonly string[]
  /** Requests that Google would refuse; a test expects none. */
  readonly violations: readonly string[]
  /** Sets the replies to the next messages to a device; later ones are accepted. */
  answer(token: string, ...replies: readonly Reply[]): void
  /** Sets the reply to all messages from now on; null: as before. */
  answerAll(reply: Reply | null): void
  /** Sets the replies to the next requests for an access token. */
  answerTokens(...replies: readonly Reply[]): void
  /** Makes all access tokens issued so far invalid. */
  revoke(): void
  /** Closes all connections and refuses new ones until `up`. */
  down(): Promise<void>
  up(): Promise<void>
}

/** An error in FCM's format. */
export const fcmError = (status: number, errorCode: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers,
  body: {
    error: {
      code: status,
      message: 'an error for a test',
      status: 'SOMETHING',
      details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }],
    },
  },
})

export const unregistered = fcmError(404, 'UNREGISTERED')

const PROJECT = 'live-economy-test'
const EMAIL = `push@${PROJECT}.iam.gserviceaccount.com`

export async function fcmServer(t: Scope): Promise<FcmServer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const received: ReceivedMessage[] = []
  const tokens: string[] = []
  const violations: string[] = []
  const replies = new Map<string, Reply[]>()
  const tokenReplies: Reply[] = []
  let all: Reply | null = null
  let validTokens = new Set<string>()

  const answer = (response: ServerResponse, reply: Reply, accepted: unknown): void => {
    if (reply === 'hang') return
    const { status, body, headers = {} } = reply === 'accept' ? { status: 200, body: accepted } : reply
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined ? '' : JSON.stringify(body))
  }

  const issueToken = (text: string, response: ServerResponse): void => {
    const form = new URLSearchParams(text)
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const { iss, scope, aud, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    const now = Date.now() / 1000
    const isValid =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      alg === 'RS256' &&
      kid === 'key-1' &&
      iss === EMAIL &&
      scope === 'https://www.googleapis.com/auth/firebase.messaging' &&
      aud === `${origin()}/token` &&
      Math.abs(iat - now) < 60 &&
      exp - iat <= 3_600 &&
      verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
    if (!isValid) {
      violations.push('an invalid assertion')
      return answer(response, { status: 400, body: { error: 'invalid_grant' } }, null)
    }
    const reply = tokenReplies.shift() ?? 'accept'
    const access_token = `access-${tokens.length + 1}`
    if (reply === 'accept') {
      tokens.push(access_token)
      validTokens.add(access_token)
    }
    answer(response, reply, { access_token, expires_in: 3_599, token_type: 'Bearer' })
  }

  const receiveMessage = (request: IncomingMessage, text: string, response: ServerResponse): void => {
    const bearer = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    if (!validTokens.has(bearer)) return answer(response, fcmError(401, 'UNAUTHENTICATED'), null)
    const { message } = JSON.parse(text)
    const isValid =
      Object.keys(message).every((key) => ['token', 'notification', 'data', 'android', 'apns'].includes(key)) &&
      Object.values(message.data).every((value) => typeof value === 'string')
    if (!isValid) {
      violations.push('an invalid message')
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
      else if (request.url === '/token') issueToken(text, response)
      else if (request.url === `/v1/projects/${PROJECT}/messages:send`) receiveMessage(request, text, response)
      else response.writeHead(404).end()
    })
  })
  // It is given up by `down`: nobody else may get it meanwhile.
  const port = await reservePort()
  const up = async () => void (await listenOn(server, port))
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
      validTokens = new Set()
    },
    down,
    up,
  }
}
