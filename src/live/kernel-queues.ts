import { readFile } from 'node:fs/promises'

/** What the kernel holds for the other end of a connection that does not take it. */
export interface Queue {
  readonly localPort: number
  readonly remotePort: number
  readonly bytes: number
}

/** Established connections (01) whose queue has at least half a MiB (0x00080000). */
const LONG = /:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) 01 ((?!000[0-7])[0-9A-F]{8}):/g

/**
 * The long queues of this machine. A socket takes some MiB for a client that does not read before it holds anything
 * back, of which Node says nothing; Linux does. Elsewhere there are none.
 */
export async function longQueues(): Promise<readonly Queue[]> {
  const texts = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  return texts.flatMap(queuesIn)
}

/** Those in the text of such a file. */
export const queuesIn = (text: string): readonly Queue[] =>
  [...text.matchAll(LONG)].map(([, local = '', remote = '', bytes = '']) => ({
    localPort: Number.parseInt(local, 16),
    remotePort: Number.parseInt(remote, 16),
    bytes: Number.parseInt(bytes, 16),
  }))
