import { GIFT_SHARE, HISTORY_USERS, pathOf, type ReadName, readNames, reads } from '../reads/workload.ts'
import { ROOMS } from '../workload.ts'
import type { Requests } from './requests.ts'

/** A read of each user who has something to read, of any room; made beforehand. `tokens`: of all users. */
export function readRequests(name: ReadName, tokens: readonly string[]): Requests {
  const readers = reads[name].isHistory ? tokens.slice(0, HISTORY_USERS) : tokens
  const requests = readers.map((token) => getRequest(pathOf(name, 1 + Math.floor(Math.random() * ROOMS)), token))
  return requestsOf(requests.length, (i) => {
    const request = requests[i]
    if (request === undefined) throw new Error(`there is no request ${i}`)
    return request
  })
}

const getRequest = (path: string, token: string): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`)

/** Any request of the mix that an app makes: reads by their shares, and gifts. */
export function appRequests(gifts: Requests, readsOf: (name: ReadName) => Requests): Requests {
  const sources = [
    ...readNames.flatMap((name) => repeat(reads[name].share, readsOf(name))),
    ...repeat(GIFT_SHARE, gifts),
  ]
  const from = (i: number): Requests => sources[i % sources.length] ?? gifts
  return {
    senders: sources.length,
    any: () => from(Math.floor(Math.random() * sources.length)).any(),
    of: (i) => from(i).any(),
  }
}

const repeat = (count: number, requests: Requests): Requests[] => Array.from({ length: count }, () => requests)

const requestsOf = (count: number, of: (i: number) => Buffer): Requests => ({
  senders: count,
  of,
  any: () => of(Math.floor(Math.random() * count)),
})
