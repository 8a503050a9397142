import { createHmac } from 'node:crypto'

export const nowSeconds = (): number => Math.floor(Date.now() / 1000)

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token put together by hand, so that it may be wrong in any part. */
export function encodeToken(header: object, claims: unknown, sign: (text: string) => string): string {
  const text = `${encoded(header)}.${encoded(claims)}`
  return `${text}.${sign(text)}`
}

export const hs256 =
  (secret: string) =>
  (text: string): string =>
    createHmac('sha256', secret).update(text).digest('base64url')
