import { errorCode } from '../config/error-code.ts'

/** An HTTP response, or why there is none. */
export type HttpResult =
  | {
      readonly status: number
      /** The parsed body; undefined when it is not JSON. */
      readonly body: unknown
      /** From Retry-After; 0 without it. */
      readonly retryAfterMs: number
    }
  | { readonly status: null; readonly why: string }

const REQUEST_TIMEOUT_MS = 5_000

/** Never rejects. `signal` aborts the request. */
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
      // The request carries credentials, which no other host may see.
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

/** Reads `Retry-After`, in seconds or as a date; 0 when it is neither. */
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

/** `ECONNREFUSED`, `TimeoutError` …: names only, since messages may quote the request. */
function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return 'Error'
  return errorCode(error.cause) ?? error.name
}
