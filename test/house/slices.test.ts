import * as fc from 'fast-check'
import { test } from 'tap'
import { eventTypes } from '../../schema/events.ts'
import { type Model, sharedRefusals } from '../../src/features/model.ts'
import { factTerm, type Term, visitTerms } from '../../src/ledger/indexes/index-terms.ts'
import { createEventMapper, roomIdOf } from '../../src/realtime/frames/frame-mapper.ts'
import { slices as faces } from '../../src/slices.ts'
import { readDocument } from '../harness/documents/documents.ts'
import { valueOf } from '../harness/http/schema-values.ts'
import { filesIn, slices } from './sources.ts'

const sources = filesIn(['schema', 'src'])
const folderOf = (slice: string): string => `src/features/${slice}/`
const filesOf = (slice: string) => sources.filter(({ path }) => path.startsWith(folderOf(slice)))

/** The model of each slice, under the slice's name. */
const models: readonly (readonly [string, Model])[] = await Promise.all(
  slices.map(async (slice) => {
    const exported: Record<string, Model> = await import(`../../${folderOf(slice)}model.ts`)
    const [model, ...more] = Object.values(exported)
    if (model === undefined || more.length > 0) throw new Error(`${slice}/model.ts exports one model`)
    return [slice, model] as const
  }),
)

test('the registries name the model and the routes of every slice', async (t) => {
  const [models, faces] = [readDocument('src/domain.ts'), readDocument('src/slices.ts')]
  for (const slice of slices) {
    t.ok(models.includes(`from './features/${slice}/model.ts'`), slice)
    t.ok(faces.includes(`from './features/${slice}/routes.ts'`), slice)
  }
})

test("a slice's model holds every evolver and every table of the slice", async (t) => {
  for (const [slice, model] of models) {
    const text = filesOf(slice)
      .map((file) => file.text)
      .join('\n')
    t.equal(
      model.evolvers.length,
      [...text.matchAll(/^export const \w+: Evolver = \{/gm)].length,
      `evolvers of ${slice}`,
    )
    const declared = [...text.matchAll(/\bprojection\('(\w+)', \{/g)].map(([, name = '']) => name)
    t.same(model.tables.map(({ projection }) => projection.name).toSorted(), declared.toSorted(), `tables of ${slice}`)
  }
})

test("a slice's refusal codes appear only in its own folder, and it uses no others", async (t) => {
  t.ok(models.some(([slice, { refusals }]) => slice === 'roulette' && 'game_full' in refusals))
  const offenders = models.flatMap(([slice, { refusals }]) => {
    const misplaced = Object.keys(refusals).flatMap((code) => {
      const places = sources.filter(({ text }) => new RegExp(`['"\`]${code}['"\`]`).test(text)).map(({ path }) => path)
      if (places.length === 0) return [`${code} of ${slice} is nowhere used`]
      return places.filter((path) => !path.startsWith(folderOf(slice))).map((path) => `${path}: ${code} of ${slice}`)
    })
    const known = new Set([...Object.keys(refusals), ...Object.keys(sharedRefusals)])
    const unknown = filesOf(slice).flatMap(({ path, text }) => {
      const used = [...text.matchAll(/\brefuse\('(\w+)'/g)].map(([, code = '']) => code)
      return used.filter((code) => !known.has(code)).map((code) => `${path}: ${code} is not declared`)
    })
    return [...misplaced, ...unknown]
  })
  t.strictSame(offenders, [])
})

test('shared refusal codes are used by more than one part', async (t) => {
  for (const code of Object.keys(sharedRefusals)) {
    const places = sources.filter(({ path, text }) => path !== 'src/features/model.ts' && text.includes(`'${code}'`))
    const parts = new Set(places.map(({ path }) => /^src\/(?:features\/)?[\w-]+/.exec(path)?.[0]))
    t.ok(parts.size > 1 || parts.has('src/ledger'), `${code} is refused by ${[...parts].join(', ')}`)
  }
})

test("the gifts' model lists all files that fold or show their events", async (t) => {
  const comment = /\/\*\*[\s\S]*?\*\//.exec(readDocument('src/features/gifts/model.ts'))?.[0] ?? ''
  const using = sources
    .filter(({ path, text }) => path.startsWith('src/features/') && /^ {2}'gift-(sent|drawn)':/m.test(text))
    .map(({ path }) => path.replace('src/features/gifts/', '').replace('src/features/', '../'))
  t.ok(using.includes('../rooms/room.ts') && using.includes('send.ts'))
  const listed = [...comment.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path)
  t.same(listed.toSorted(), using.toSorted())
})

test('an event is found under a room if it has a frame for it: the last one tells what a room was told', async (t) => {
  const mapEvent = createEventMapper(
    faces.flatMap(({ frameMapper = [] }) => frameMapper),
    (error) => t.error(error),
  )
  const [kind] = factTerm('room', 1)
  const told = new Set<string>()
  const offenders: string[] = []
  for (const [type, { version, data: schema }] of Object.entries(eventTypes)) {
    for (const data of fc.sample(valueOf(JSON.parse(JSON.stringify(schema))), 20)) {
      const event = JSON.parse(JSON.stringify({ type, data, movements: [], position: 1, at: 0 }))
      const entry = { type, version, actor: 'system', requestId: 'r', idempotencyKey: null }
      const terms = new Set<Term>()
      visitTerms({ ...event, entry }, (term) => term[0] === kind && terms.add(term))
      const rooms = [...mapEvent(event).keys()].map(roomIdOf).filter((room) => room !== null)
      if ([...terms].join() !== rooms.map((room) => factTerm('room', room)).join()) offenders.push(type)
      else if (rooms.length > 0) told.add(type)
    }
  }
  t.same(offenders, [])
  t.ok(told.has('gift-drawn') && told.has('roulette-left'))
})
