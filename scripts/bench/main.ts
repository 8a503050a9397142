import { type Bench, openBench } from './bench.ts'
import { measureAgainst } from './gifts/against.ts'
import { measureGate } from './gifts/gate.ts'
import { measureGrowth } from './gifts/growth.ts'
import { measureHttp } from './gifts/over-http.ts'
import { measureInProcess } from './in-process/in-process.ts'
import { readOptions } from './options.ts'
import { profile } from './profile/profile.ts'
import { report } from './report.ts'
import { describeRun } from './run/machine.ts'
import { runAndExit } from './run/run-and-exit.ts'
import { measureAllowance } from './stalls/allowance.ts'
import { measureStalls } from './stalls/measure.ts'
import { allowanceReport, stallReport } from './stalls/report.ts'

async function measure(bench: Bench): Promise<string> {
  const { options, cluster } = bench
  if (options.profile) return profile(bench)
  if (options.report === 'stalls') return stallReport(await describeRun(cluster), await measureStalls(bench))
  if (options.report === 'allowance') return allowanceReport(await describeRun(cluster), await measureAllowance(bench))
  const against = options.against === null ? null : await measureAgainst(bench, options.against)
  const parts = against === null ? options.parts : []
  const http = await measureHttp(bench, parts)
  const inProcess = parts.includes('inprocess') ? await measureInProcess(bench) : null
  const growth = parts.includes('growth') ? await measureGrowth(bench) : null
  const gate = parts.includes('gate') ? await measureGate(bench) : null
  const heading = [
    ...(await describeRun(cluster)),
    `Rounds: ${options.rounds} of ${options.seconds} s for each implementation, taking turns; medians, and medians of each round's ratios${options.keyed ? '; every request with an idempotency key' : ''}`,
  ]
  return report(heading, { http, inProcess, growth, gate, against })
}

await runAndExit(async (cleanUp) => measure(await openBench(readOptions(process.argv), cleanUp)))
