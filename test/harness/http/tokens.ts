import { createHmac } from 'node:crypto'

export const nowSeconds = (): number => Math.floor(Date.now() / 1000)

const encodePart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Encodes a token by hand, so that any part of it can be wrong. */
export function encodeToken(header: object, claims: unknown, sign: (text: string) => string): string {
  const text = `${encodePart(header)}.${encodePart(claims)}`
  return `${text}.${sign(text)}`
}

export const hs256 =
  (secret: string) =>
  (text: string): string =>
    createHmac('sha256', secret).update(text).digest('base64url')
