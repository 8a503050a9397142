import { isDeepStrictEqual } from 'node:util'
import { signToken } from '../load/requests.ts'
import { keys } from '../run/keys.ts'
import type { Server } from '../run/servers.ts'
import { pathOf, type ReadName, readNames, reads } from './workload.ts'

type Asked = Pick<Server, 'port'>

/** Requests on a machine that is too busy to open a database connection in time. */
const MAX_ATTEMPTS = 5

/** A user's answer to a read, of the room with the number of the user. */
export async function askFor({ port }: Asked, name: ReadName, user: number, attempt = 1): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${pathOf(name, user)}`, {
    headers: { authorization: `Bearer ${signToken(user, keys.JWT_SECRET)}` },
  })
  const body = await response.text()
  if (response.status === 200) return body
  if (response.status >= 500 && attempt < MAX_ATTEMPTS) return askFor({ port }, name, user, attempt + 1)
  throw new Error(`${name} of user ${user}: ${response.status} ${body}`)
}

/** Throws unless both answer every read with the same JSON: only then can their speed be compared. */
export async function compareAnswers(ours: Asked, naive: Asked, users: readonly number[]): Promise<void> {
  for (const name of readNames) {
    for (const user of users) {
      const [one, other] = await Promise.all([askFor(ours, name, user), askFor(naive, name, user)])
      const same = isDeepStrictEqual(JSON.parse(one), JSON.parse(other))
      if (!same) throw new Error(`the naive ${name} of user ${user} differs: ${other} instead of ${one}`)
    }
  }
}

/** The answers to the reads of user 1, by route: what the server without a database sends. */
export async function sampleAnswers(server: Asked): Promise<Readonly<Record<string, string>>> {
  const answers: Record<string, string> = {}
  for (const name of readNames) answers[reads[name].route] = await askFor(server, name, 1)
  return answers
}
