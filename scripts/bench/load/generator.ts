import { serve } from '../../../test/harness/process/child-process-rpc.ts'
import { Job, type JobMix, type Measured } from './job.ts'
import { closedLoop, openLoop, sendAll } from './loops.ts'
import { appRequests, readRequests } from './read-requests.ts'
import { prepareRequests, type Requests, signTokens } from './requests.ts'

// The process of the load generator. `JWT_SECRET` signs its tokens; `KEYED=1` adds an idempotency key to each gift.

const tokens = signTokens(process.env['JWT_SECRET'] ?? '')
const keyed = process.env['KEYED'] === '1'

const prepare = (mix: JobMix): Requests => {
  if (mix === 'uniform' || mix === 'hot') return prepareRequests(mix, tokens, keyed)
  return mix === 'app' ? appRequests(prepared('uniform'), prepared) : readRequests(mix, tokens)
}

const made = new Map<JobMix, Requests>()
const prepared = (mix: JobMix): Requests => {
  const requests = made.get(mix) ?? prepare(mix)
  made.set(mix, requests)
  return requests
}
prepared('uniform')
prepared('hot')

const PROBE = Buffer.from('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')

async function work(job: Job): Promise<Measured> {
  if (job.kind === 'probe') return openLoop(job.port, job.perSecond, job.seconds, () => PROBE)
  const requests = prepared(job.mix)
  switch (job.kind) {
    case 'warm': {
      const count = Math.min(job.count ?? requests.senders, requests.senders)
      await sendAll(job.port, count, (i) => requests.of(i))
      return { answered: count, perSecond: 0, p50: 0, p99: 0, max: 0 }
    }
    case 'closed':
      return closedLoop([job.port, ...(job.otherPorts ?? [])], job.connections, job.seconds, () => requests.any())
    case 'open':
      return openLoop(job.port, job.perSecond, job.seconds, () => requests.any())
  }
}

serve(Job, work)
