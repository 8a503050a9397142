import { percentile } from '../../../../test/harness/load/percentiles.ts'
import { serve } from '../../../../test/harness/process/child-process-rpc.ts'
import { type Call, type Pace, PacedCalls } from '../service/paced-calls.ts'
import { measureProcess, type ProcessLoad } from '../service/process-load.ts'
import { giftIn, walletOfAny } from '../service/requests.ts'
import { type CallName, type Calls, callNames, LoadJob } from './jobs.ts'

// The process that sends gifts in the rooms and reads wallets, as fast before, during and after a fault.

const PER_SECOND = 25
const SLOW_MS = 2_000

let port = 0
let running:
  | { readonly calls: Readonly<Record<CallName, PacedCalls>>; readonly readLoad: () => ProcessLoad }
  | undefined

function start(rooms: number): object {
  const gift = (): Buffer => giftIn(1 + Math.floor(Math.random() * rooms))
  const paced = (next: () => Buffer, pace: Partial<Pace> = {}): PacedCalls =>
    new PacedCalls({ port: () => port, perSecond: PER_SECOND, next, ...pace })
  const calls = {
    gift: paced(gift),
    wallet: paced(walletOfAny),
    'gift, new connection': paced(gift, { isFresh: true }),
    'wallet, new connection': paced(walletOfAny, { isFresh: true }),
  }
  for (const each of Object.values(calls)) each.start()
  running = { calls, readLoad: measureProcess() }
  return {}
}

async function stop(): Promise<{ load: ProcessLoad }> {
  if (running === undefined) throw new Error('not started')
  const { calls, readLoad } = running
  const load = readLoad()
  await Promise.all(Object.values(calls).map((each) => each.stop()))
  return { load }
}

function summarize(all: readonly Call[], from: number, until: number): Calls {
  const calls = all.filter(({ due, ms }) => due + ms >= from && due <= until)
  const answered = calls.filter(({ outcome }) => outcome === 200).map(({ ms }) => ms)
  const sorted = answered.toSorted((a, b) => a - b)
  const at = (percent: number): number => (sorted.length === 0 ? 0 : percentile(sorted, percent))
  const numberOf = (outcome: Call['outcome']): number => calls.filter((call) => call.outcome === outcome).length
  const reset = numberOf('reset')
  const refused = numberOf('refused')
  return {
    answered: sorted.length,
    p50: at(50),
    p99: at(99),
    max: at(100),
    slow: sorted.filter((ms) => ms > SLOW_MS).length,
    reset,
    refused,
    failed: calls.length - sorted.length - reset - refused,
  }
}

serve(LoadJob, async (job) => {
  switch (job.do) {
    case 'start':
      port = job.port
      return start(job.rooms)
    case 'move':
      port = job.port
      return {}
    case 'stop':
      return stop()
    case 'report':
      return Object.fromEntries(
        callNames.map((name) => [name, summarize(running?.calls[name].calls ?? [], job.from, job.until)]),
      )
  }
})
