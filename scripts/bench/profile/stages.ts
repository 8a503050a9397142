/** What a gift costs an instance, in the order in which a request passes it. */
export const stages = [
  'HTTP',
  'token',
  'schema',
  'forward',
  'decide',
  'hash',
  'encode, and speak to PostgreSQL',
  'subscribers',
  'garbage collection',
  'Node, for no one of these',
] as const
export type Stage = (typeof stages)[number]

/** By the beginning of the path within the checkout; the first that matches counts. */
const ofOwnFiles: readonly (readonly [path: string, stage: Stage])[] = [
  ['src/http/auth/', 'token'],
  ['src/http/validation/', 'schema'],
  ['src/http/', 'HTTP'],
  ['src/forwarding/', 'forward'],
  ['src/ledger/storage/event-hash.ts', 'hash'],
  ['src/ledger/rules/hash.ts', 'hash'],
  ['src/ledger/storage/', 'encode, and speak to PostgreSQL'],
  ['src/ledger/executor/statements.ts', 'encode, and speak to PostgreSQL'],
  ['src/ledger/executor/pipelined-connection.ts', 'encode, and speak to PostgreSQL'],
  ['src/ledger/subscriptions/', 'subscribers'],
  ['src/realtime/', 'subscribers'],
  ['src/notifications/', 'subscribers'],
  ['src/ledger/', 'decide'],
  ['src/features/', 'decide'],
]

const ofPackages: Readonly<Record<string, Stage>> = {
  'lru-cache': 'token',
  '@fastify/jwt': 'token',
  '@sinclair/typebox': 'schema',
  ajv: 'schema',
  pg: 'encode, and speak to PostgreSQL',
  'pg-protocol': 'encode, and speak to PostgreSQL',
  'pg-types': 'encode, and speak to PostgreSQL',
  fastify: 'HTTP',
  'find-my-way': 'HTTP',
  'secure-json-parse': 'HTTP',
  '@prometheus-io/client': 'HTTP',
}

/**
 * The stage that a function belongs to; null where that depends on its caller. `file` is a path within the checkout or
 * one of Node's `node:` names, empty for generated code.
 */
export function stageOf(functionName: string, file: string): Stage | null {
  if (functionName === '(garbage collector)') return 'garbage collection'
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file)?.[1]
  if (packaged !== undefined) return ofPackages[packaged] ?? null
  if (file.startsWith('node:_http')) return 'HTTP'
  // Ajv names what it generates so.
  if (file === '' && /^validate\d+$/.test(functionName)) return 'schema'
  return ofOwnFiles.find(([path]) => file.startsWith(path))?.[1] ?? null
}
