import { PlainClient, type PlainOptions } from '../../../test/harness/websocket/plain-client.ts'

/** Sockets that are opened at a time. */
const AT_A_TIME = 50

/** Where a socket goes, and the uid of its room. */
type Subscription = Pick<PlainOptions, 'port' | 'token'> & { readonly room: string }

/** Opens sockets that are each subscribed to a room; `onEvent` gets the beginning of each frame with an event. */
export async function subscribeAll(
  subscriptions: readonly Subscription[],
  onEvent: (text: string) => void,
): Promise<PlainClient[]> {
  const clients: PlainClient[] = []
  const subscribe = ({ room, ...to }: Subscription): Promise<void> =>
    new Promise((resolve, reject) => {
      const client: PlainClient = new PlainClient({
        ...to,
        onOpen: () => client.send({ t: 'sub', ch: `one-to-room:${room}` }),
        onText: (text) => {
          if (text.startsWith('{"t":"ev","ch":"one-to-room:')) onEvent(text)
          else if (text.startsWith('{"t":"subbed"')) resolve()
        },
        onEnd: (ending) => reject(new Error(JSON.stringify(ending))),
      })
      clients.push(client)
    })
  for (let i = 0; i < subscriptions.length; i += AT_A_TIME)
    await Promise.all(subscriptions.slice(i, i + AT_A_TIME).map(subscribe))
  return clients
}
