import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import type { LocalizedText } from '../../schema/languages.ts'
import { refusalResponseOf } from '../../src/domain.ts'

type Message = LocalizedText | ((...placeholders: readonly unknown[]) => LocalizedText)

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
)

const lists: readonly (readonly [name: string, messages: Readonly<Record<string, Message>>])[] = (
  await Promise.all(
    sources
      .filter(
        (name) =>
          /(?<!^language\/)messages\.ts$|^features\/[\w-]+\/model\.ts$/.test(name) && !name.startsWith('forwarding/'),
      )
      .map(async (name) => {
        const exported: Record<string, unknown> = await import(`../../src/${name}`)
        return Object.entries(exported).flatMap(([list, value]) => {
          if (list.endsWith('Messages')) return [[name, Object(value)] as const]
          if (!list.endsWith('Model')) return []
          const refusals = Object.entries<{ readonly message: Message }>(Object(value).refusals)
          return [[name, Object.fromEntries(refusals.map(([code, { message }]) => [code, message]))] as const]
        })
      }),
  )
).flat()

/** Every message of every part, by file and code. */
const messages = lists.flatMap(([name, list]) =>
  Object.entries(list).map(([code, message]) => [`${name} ${code}`, message] as const),
)

/** Sentences that stand next to their use, as they are written, by file. */
const written = sources
  .filter((name) => name.startsWith('features/'))
  .flatMap((name) => {
    const text = readFileSync(join(root, 'src', name), 'utf8')
    return [...text.matchAll(/\ben: (['"`])(.*?)\1,\s+ar: (['"`])(.*?)\3/g)].map(
      ([, , en = '', , ar = '']) => [name, { en, ar }] as const,
    )
  })

/** Numbers of every plural category, which are names in both languages as well. */
const PLACEHOLDERS = [0, 1, 2, 3, 11, 100].map((count): unknown =>
  Object.assign(Object(count), { en: 'Ann', ar: 'آن' }),
)

/** Messages that clients know without a full stop. */
const FIXED_ENGLISH = /^features\/roulette\/|^realtime\/messages\.ts not_room_member$/

const ARABIC_LETTER = /\p{Script=Arabic}/u

test('every message is a sentence in both languages, whatever fills its placeholders', async (t) => {
  t.ok(messages.length > 80)
  for (const [name, message] of messages) {
    const texts = typeof message === 'function' ? PLACEHOLDERS.map((value) => message(value, value, value)) : [message]
    for (const { en, ar } of texts) {
      t.match(en, /\w/, name)
      // Messages about a field begin in lower case: the field is their subject.
      if (/^[A-Z]/.test(en) && !FIXED_ENGLISH.test(name))
        t.match(en, /[.?!]$/, `${name} ends like a sentence in English`)
      t.match(ar, ARABIC_LETTER, name)
      t.match(ar, /[.؟!]$/, `${name} ends like a sentence`)
      t.notMatch(ar, /undefined|NaN\b(?!\.)|[٠-٩]|^\s|\s$| {2}/, name)
    }
  }
})

test('every sentence that stands next to its use is one in both languages', async (t) => {
  t.ok(written.length > 80)
  for (const [name, { en, ar }] of written) {
    t.match(ar, ARABIC_LETTER, name)
    t.notMatch(ar, /undefined|NaN\b(?!\.)|[٠-٩]|^\s|\s$| {2}/, name)
    if (/[.?!]$/.test(en)) t.match(ar, /[.؟!]$/, `${name} ends like a sentence`)
  }
})

test('every code with which a rule refuses has a message in both languages', async (t) => {
  const codes = new Set(
    sources
      .filter((name) => name.startsWith('features/'))
      .flatMap((name) => [...readFileSync(join(root, 'src', name), 'utf8').matchAll(/\brefuse\('(\w+)'/g)])
      .map(([, code = '']) => code),
  )
  t.ok(codes.has('game_full'))
  for (const refusal of codes) {
    const { message } = refusalResponseOf({ refusal })
    t.match(message.en, /\w/, refusal)
    t.match(message.ar, ARABIC_LETTER, refusal)
  }
})
