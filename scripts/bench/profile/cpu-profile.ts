import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Frame = Type.Object({ functionName: Type.String(), url: Type.String(), lineNumber: Type.Integer() })
type Frame = Static<typeof Frame>

/** What V8 writes; times in microseconds of its monotonic clock. */
const CpuProfile = Type.Object({
  startTime: Type.Number(),
  nodes: Type.Array(
    Type.Object({ id: Type.Integer(), callFrame: Frame, children: Type.Optional(Type.Array(Type.Integer())) }),
  ),
  /** The node that was seen, and the time since the look before. */
  samples: Type.Array(Type.Integer()),
  timeDeltas: Type.Array(Type.Number()),
})

/** A share of the time in which the process was not idle, most first. */
export interface Share {
  readonly name: string
  readonly percent: number
}

export interface Shares {
  /** Of the whole time. */
  readonly idlePercent: number
  /** `function file:line`: what was done in it, not in what it called. */
  readonly functions: readonly Share[]
  /** Folders of ours and packages, with what Node did for them. */
  readonly areas: readonly Share[]
}

/** Where a process spent its time between two moments. */
export function sharesOf(text: string, from: number, until: number): Shares {
  const { startTime, nodes, samples, timeDeltas } = Value.Parse(CpuProfile, JSON.parse(text))
  const places = new Map<number, { name: string; area: string }>()
  // Parents come before their children.
  for (const { id, callFrame, children = [] } of nodes) {
    const area = areaOf(callFrame) ?? places.get(id)?.area ?? 'Node by itself'
    places.set(id, { name: nameOf(callFrame), area })
    for (const child of children) places.set(child, { name: '', area })
  }
  const functions = new Map<string, number>()
  const areas = new Map<string, number>()
  let at = startTime
  let idle = 0
  let busy = 0
  for (const [i, sample] of samples.entries()) {
    const time = timeDeltas[i] ?? 0
    const place = places.get(sample)
    at += time
    if (at < from || at > until || place === undefined) continue
    if (place.name === '(idle)') {
      idle += time
      continue
    }
    busy += time
    functions.set(place.name, (functions.get(place.name) ?? 0) + time)
    areas.set(place.area, (areas.get(place.area) ?? 0) + time)
  }
  const shares = (times: ReadonlyMap<string, number>): Share[] =>
    [...times].map(([name, time]) => ({ name, percent: (100 * time) / busy })).sort((a, b) => b.percent - a.percent)
  return { idlePercent: (100 * idle) / (idle + busy), functions: shares(functions), areas: shares(areas) }
}

const root = fileURLToPath(new URL('../../..', import.meta.url))

const fileOf = (url: string): string => (url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url)

function nameOf({ functionName, url, lineNumber }: Frame): string {
  const place = url === '' ? '' : `${fileOf(url)}:${lineNumber + 1}`
  return `${functionName || 'anonymous'} ${place}`.trim()
}

/** Null for what is done for whoever called it: Node's own files and functions without one. */
function areaOf({ functionName, url }: Frame): string | null {
  if (functionName === '(garbage collector)') return functionName
  const file = fileOf(url)
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file)?.[1]
  if (packaged !== undefined) return packaged
  return /^(src\/[^/]+|schema)\//.exec(file)?.[1] ?? null
}
