import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** The account that FCM knows the service by. The key is an object, not text, so that nothing prints it by mistake. */
export interface ServiceAccount {
  readonly projectId: string
  readonly email: string
  readonly keyId: string | null
  readonly key: KeyObject
  /** Where access tokens come from. */
  readonly tokenUrl: string
}

const text = Type.String({ minLength: 1 })
const fields = Type.Object({
  project_id: text,
  client_email: text,
  private_key: text,
  private_key_id: Type.Optional(text),
  token_uri: Type.Optional(Type.String({ pattern: '^https?://[^/]' })),
})

const TOKEN_URL = 'https://oauth2.googleapis.com/token'

/**
 * Reads the JSON key file of a Google service account: the JSON itself, or the path of the file. Throws an Error that
 * finishes a sentence which begins with the variable's name, and repeats nothing of the file.
 */
export function readServiceAccount(given: string): ServiceAccount {
  const found = parsed(given.trimStart().startsWith('{') ? given : contents(given))
  if (!Value.Check(fields, found)) {
    const names = [...Value.Errors(fields, found)].map(({ path }) => path.slice(1))
    throw new Error(`is not a service account key: missing or wrong: ${[...new Set(names)].join(', ')}`)
  }
  return Object.freeze({
    projectId: found.project_id,
    email: found.client_email,
    keyId: found.private_key_id ?? null,
    key: privateKey(found.private_key),
    tokenUrl: found.token_uri ?? TOKEN_URL,
  })
}

function contents(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new Error('must be the JSON key of a service account, or the path of a readable file with it')
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // Without the cause, which quotes the input.
    throw new Error('is not JSON')
  }
}

function privateKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // As above.
  }
  throw new Error('is not a service account key: private_key is not an RSA key in PEM format')
}

/** The key that verifies tokens. The algorithm follows from the key alone, never from the token. */
export type JwtKey =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'public'; readonly key: string; readonly algorithm: JwtAlgorithm }

type JwtAlgorithm = 'RS256' | 'ES256' | 'EdDSA'

/**
 * Reads a public key given as PEM (line breaks may be written as `\n`) and answers it as SPKI PEM with its algorithm.
 * Throws an Error that says what is wrong with the key without repeating any of it.
 */
export function readPublicKey(text: string): JwtKey {
  const pem = text.replaceAll('\\n', '\n')
  if (pem.includes('PRIVATE KEY')) throw new Error('holds a private key where the public one belongs')
  let key: KeyObject
  try {
    key = createPublicKey(pem)
  } catch {
    // Without the cause: OpenSSL's message may quote the input.
    throw new Error('is not a public key in PEM format')
  }
  return Object.freeze({
    kind: 'public',
    key: key.export({ type: 'spki', format: 'pem' }).toString(),
    algorithm: algorithmOf(key),
  })
}

function algorithmOf(key: KeyObject): JwtAlgorithm {
  const details = key.asymmetricKeyDetails
  if (key.asymmetricKeyType === 'rsa') {
    if ((details?.modulusLength ?? 0) < 2048) throw new Error('is an RSA key of fewer than 2048 bits')
    return 'RS256'
  }
  if (key.asymmetricKeyType === 'ec' && details?.namedCurve === 'prime256v1') return 'ES256'
  if (key.asymmetricKeyType === 'ed25519') return 'EdDSA'
  throw new Error('must be an RSA, P-256 or Ed25519 key')
}
