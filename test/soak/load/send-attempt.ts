import type { Instance } from '../../harness/scenario/service-instance.ts'
import type { Asked } from '../books/answers.ts'
import { type Heard, judge } from '../books/contract.ts'
import type { World } from '../environment/environment.ts'

/** Asks an instance once and notes what is heard. Never rejects. */
export async function ask(world: Clients, asked: Asked, { origin }: Pick<Instance, 'origin'>): Promise<Heard> {
  const { answers, patienceMs } = world
  const started = performance.now()
  answers.sent()
  const heard = await send(origin, asked, world.people.tokenOf(asked.wish.actor), patienceMs)
  answers.note(asked, heard, performance.now() - started)
  return heard
}

/** What the asking needs of a world. */
export type Clients = Pick<World, 'answers' | 'people' | 'patienceMs'>

async function send(origin: string, { key, wish }: Asked, token: string, patienceMs: number): Promise<Heard> {
  try {
    const response = await fetch(`${origin}${wish.path}`, {
      method: wish.method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(wish.method !== 'GET' && { 'idempotency-key': key }),
      },
      body: wish.body,
      signal: AbortSignal.timeout(patienceMs),
    })
    const text = await response.text()
    return judge(wish.kind, { status: response.status, header: (name) => response.headers.get(name), text })
  } catch (error) {
    return { is: 'cut', gaveUp: error instanceof Error && error.name === 'TimeoutError' }
  }
}
