import { errorCode } from '../config/error-code.ts'

/** What came back over HTTP, or why nothing did. */
export type HttpResult =
  | {
      readonly status: number
      /** What the body's JSON says; undefined when it is not JSON. */
      readonly body: unknown
      /** How long we are asked to wait; 0 when we are not. */
      readonly retryAfterMs: number
    }
  | { readonly status: null; readonly why: string }

/** An answer that takes longer is not waited for. */
const REQUEST_TIMEOUT_MS = 5_000

/** Posts and never throws. `signal` gives up early. */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<HttpResult> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      // Nobody but who was asked may see what was sent.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    })
    const text = await response.text()
    return {
      status: response.status,
      body: parseJson(text),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()),
    }
  } catch (error) {
    return { status: null, why: failureReason(error) }
  }
}

/** `Retry-After` as seconds or as a date; 0 when it says neither. */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0
  const wait = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return wait > 0 ? wait : 0
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `ECONNREFUSED`, `TimeoutError` …: a word that quotes nothing of what was sent. */
function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return 'Error'
  return errorCode(error.cause) ?? error.name
}
