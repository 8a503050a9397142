import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Stage, stageOf } from './stages.ts'

const Frame = Type.Object({ functionName: Type.String(), url: Type.String(), lineNumber: Type.Integer() })
type Frame = Static<typeof Frame>

/** The format of V8; times are in microseconds of its monotonic clock. */
const CpuProfile = Type.Object({
  startTime: Type.Number(),
  nodes: Type.Array(
    Type.Object({ id: Type.Integer(), callFrame: Frame, children: Type.Optional(Type.Array(Type.Integer())) }),
  ),
  /** The node of each sample; `timeDeltas` has the time since the sample before. */
  samples: Type.Array(Type.Integer()),
  timeDeltas: Type.Array(Type.Number()),
})

/** A share of the time in which the process was not idle. */
export interface Share {
  readonly name: string
  readonly percent: number
}

/** Lists are sorted, largest share first. */
export interface Shares {
  /** Of the whole time. */
  readonly idlePercent: number
  /** By `function file:line`, without the functions that it called. */
  readonly functions: readonly Share[]
  /** By folder or package, including the work of Node for it. */
  readonly areas: readonly Share[]
  /** By stage of a gift, including the work of Node for it; in no order. */
  readonly stages: ReadonlyMap<Stage, number>
}

/** How a process spent its time between two points of its monotonic clock. */
export function sharesOf(text: string, from: number, until: number): Shares {
  const { startTime, nodes, samples, timeDeltas } = Value.Parse(CpuProfile, JSON.parse(text))
  const frames = new Map<number, { name: string; area: string; stage: Stage }>()
  // Parents come before their children.
  for (const { id, callFrame, children = [] } of nodes) {
    const area = areaOf(callFrame) ?? frames.get(id)?.area ?? 'Node itself'
    const stage =
      stageOf(callFrame.functionName, fileOf(callFrame.url)) ?? frames.get(id)?.stage ?? 'Node, for no one of these'
    frames.set(id, { name: nameOf(callFrame), area, stage })
    for (const child of children) frames.set(child, { name: '', area, stage })
  }
  const functions = new Map<string, number>()
  const areas = new Map<string, number>()
  const stages = new Map<Stage, number>()
  let at = startTime
  let idle = 0
  let busy = 0
  for (const [i, sample] of samples.entries()) {
    const time = timeDeltas[i] ?? 0
    const frame = frames.get(sample)
    at += time
    if (at < from || at > until || frame === undefined) continue
    if (frame.name === '(idle)') {
      idle += time
      continue
    }
    busy += time
    functions.set(frame.name, (functions.get(frame.name) ?? 0) + time)
    areas.set(frame.area, (areas.get(frame.area) ?? 0) + time)
    stages.set(frame.stage, (stages.get(frame.stage) ?? 0) + time)
  }
  const shares = (times: ReadonlyMap<string, number>): Share[] =>
    [...times].map(([name, time]) => ({ name, percent: (100 * time) / busy })).sort((a, b) => b.percent - a.percent)
  return {
    idlePercent: (100 * idle) / (idle + busy),
    functions: shares(functions),
    areas: shares(areas),
    stages: new Map([...stages].map(([stage, time]) => [stage, (100 * time) / busy])),
  }
}

const root = fileURLToPath(new URL('../../..', import.meta.url))

const fileOf = (url: string): string => (url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url)

function nameOf({ functionName, url, lineNumber }: Frame): string {
  const location = url === '' ? '' : `${fileOf(url)}:${lineNumber + 1}`
  return `${functionName || 'anonymous'} ${location}`.trim()
}

/** Null for Node's own files and functions without a file, which count for their caller. */
function areaOf({ functionName, url }: Frame): string | null {
  if (functionName === '(garbage collector)') return functionName
  const file = fileOf(url)
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file)?.[1]
  if (packaged !== undefined) return packaged
  return /^(src\/[^/]+|schema)\//.exec(file)?.[1] ?? null
}
