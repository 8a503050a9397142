import type { Wish } from './mix.ts'

/** What came of a request. */
export type Heard =
  /** It was done or refused, and that is remembered. */
  | { readonly is: 'answer'; readonly status: number; readonly text: string; readonly replayed: boolean }
  /** Not now: it may or may not have been done. */
  | { readonly is: 'later'; readonly status: number }
  /** No answer, or half of one. */
  | { readonly is: 'cut'; readonly why: string }
  /** An answer that no client was told to expect. */
  | { readonly is: 'wrong'; readonly status: number; readonly text: string }

/** Asks once. Never rejects. */
export async function ask(
  origin: string,
  token: string,
  wish: Wish,
  key: string | null,
  patienceMs: number,
): Promise<Heard> {
  try {
    const response = await fetch(`${origin}${wish.path}`, {
      method: wish.method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(key !== null && { 'idempotency-key': key }),
      },
      body: wish.body,
      signal: AbortSignal.timeout(patienceMs),
    })
    return judge(response.status, response.headers, await response.text())
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    return { is: 'cut', why: String(cause) }
  }
}

function judge(status: number, headers: Headers, text: string): Heard {
  const body = bodyOf(text)
  const code = typeof body['code'] === 'string' && typeof body['message'] === 'string' ? body['code'] : null
  if ((status === 200 || status === 201) && 'data' in body) {
    return { is: 'answer', status, text, replayed: headers.get('idempotency-replayed') === 'true' }
  }
  if (status === 422 && code !== null && code !== 'idempotency_key_reused' && code !== 'validation_failed') {
    return { is: 'answer', status, text, replayed: headers.get('idempotency-replayed') === 'true' }
  }
  if (status === 500 && code === 'unavailable') return { is: 'later', status }
  if (status === 429 && code === 'overloaded' && headers.has('retry-after')) return { is: 'later', status }
  return { is: 'wrong', status, text: text.slice(0, 500) }
}

function bodyOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? { ...body } : {}
  } catch {
    return {}
  }
}
