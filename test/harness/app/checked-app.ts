import type { Slice } from '../../../src/features/slice.ts'
import { isFullRun } from '../long-tests.ts'
import { startPrismCheck } from '../process/prism-check.ts'
import { createTestApp, type SendRequest, type TestApp } from './test-app.ts'

type Test = Parameters<typeof createTestApp>[0] & Parameters<typeof startPrismCheck>[0]

/** A test app whose requests and answers Prism compares with the OpenAPI document, too; only in `npm run test:full`. */
export async function createCheckedApp(t: Test, slices: readonly Slice[]): Promise<TestApp> {
  const created = await createTestApp(t, slices)
  if (!isFullRun) return created
  const prism = await startPrismCheck(t, created.app.swagger())
  const checked =
    (send: SendRequest): SendRequest =>
    async (method, url, body, headers = {}) => {
      const answer = await send(method, url, body, headers)
      const received = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
      const difference = await prism.difference({
        method,
        url,
        // As the test app sends them; Prism does not look into a token.
        headers: { authorization: 'Bearer token', 'content-type': 'application/json', ...headers },
        body: body === undefined ? '' : JSON.stringify(body),
        response: { status: answer.status, headers: Object.fromEntries(received), body: Buffer.from(answer.text) },
      })
      if (difference !== null) throw new Error(difference)
      return answer
    }
  return {
    ...created,
    operator: checked(created.operator),
    user: (id, secondsAgo) => checked(created.user(id, secondsAgo)),
  }
}
