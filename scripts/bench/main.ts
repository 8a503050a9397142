import { type Bench, openBench } from './bench.ts'
import { measureAgainst } from './gifts/against.ts'
import { measureGate } from './gifts/gate.ts'
import { measureGrowth } from './gifts/growth.ts'
import { measureHttp } from './gifts/over-http.ts'
import { measureInProcess } from './in-process/in-process.ts'
import { measureInstances } from './instances/measure.ts'
import { instancesReport } from './instances/report.ts'
import { profileStages } from './instances/stages.ts'
import { type Options, readOptions } from './options.ts'
import { profile } from './profile/profile.ts'
import { measureReads, turnSeconds } from './reads/measure.ts'
import { readsReport } from './reads/report.ts'
import { report } from './report.ts'
import { describeRun } from './run/machine.ts'
import { runAndExit } from './run/run-and-exit.ts'
import { measureAllowance } from './stalls/allowance.ts'
import { measureStalls } from './stalls/measure.ts'
import { allowanceReport, stallReport } from './stalls/report.ts'

async function measure(bench: Bench): Promise<string> {
  const { options, cluster } = bench
  if (options.profile) return options.report === 'instances' ? profileStages(bench) : profile(bench)
  if (options.report === 'reads') return measureAndReportReads(bench)
  if (options.report === 'stalls') return stallReport(await describeRun(cluster), await measureStalls(bench))
  if (options.report === 'allowance') return allowanceReport(await describeRun(cluster), await measureAllowance(bench))
  if (options.report === 'instances') {
    const rounds = describeRounds(options, `${options.seconds} s`)
    return instancesReport([...(await describeRun(cluster)), rounds], await measureInstances(bench))
  }
  const against = options.against === null ? null : await measureAgainst(bench, options.against)
  const parts = against === null ? options.parts : []
  const http = await measureHttp(bench, parts)
  const inProcess = parts.includes('inprocess') ? await measureInProcess(bench) : null
  const growth = parts.includes('growth') ? await measureGrowth(bench) : null
  const gate = parts.includes('gate') ? await measureGate(bench) : null
  const heading = [...(await describeRun(cluster)), describeRounds(options, `${options.seconds} s`)]
  return report(heading, { http, inProcess, growth, gate, against })
}

async function measureAndReportReads(bench: Bench): Promise<string> {
  const { options, cluster } = bench
  const scenarios = await measureReads(bench)
  const [many, alone] = [64, 1].map((connections) => turnSeconds(options.seconds, connections))
  const rounds = describeRounds(options, `${many} s, with one connection ${alone} s`)
  return readsReport([...(await describeRun(cluster)), rounds], scenarios)
}

const describeRounds = ({ rounds, keyed }: Options, length: string): string =>
  `Rounds: ${rounds} of ${length} for each implementation, taking turns; medians, and medians of each round's ratios${keyed ? '; every gift with an idempotency key' : ''}`

await runAndExit(async (cleanUp) => measure(await openBench(readOptions(process.argv), cleanUp)))
