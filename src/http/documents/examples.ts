import { readdirSync, readFileSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Parameters = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))

/** A request on the demo data with the response that was recorded. */
export const Example = Type.Object({
  operation: Type.String({ minLength: 1 }),
  /** What it shows, in a few words; no two of an operation are the same. */
  summary: Type.String({ minLength: 1 }),
  /** The user who asks, a role of staff, or nobody. */
  as: Type.Union([Type.Integer(), Type.Literal('operator'), Type.Literal('finance'), Type.Null()]),
  params: Type.Optional(Parameters),
  query: Type.Optional(Parameters),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  body: Type.Optional(Type.Unknown()),
  status: Type.Integer(),
  /** Absent where the answer is no JSON. */
  response: Type.Optional(Type.Unknown()),
})
export type Example = Static<typeof Example>

const folder = new URL('../../../schema/examples/', import.meta.url)

/** The files of examples, each recorded from its first entry to its last on the demo data. */
export const exampleFiles = (): readonly URL[] =>
  readdirSync(folder)
    .sort()
    .map((name) => new URL(name, folder))

export const readExamples = (file: URL): readonly Example[] =>
  Value.Parse(Type.Array(Example), JSON.parse(readFileSync(file, 'utf8')))
