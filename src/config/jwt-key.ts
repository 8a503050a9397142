import { createPublicKey, type KeyObject } from 'node:crypto'

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
