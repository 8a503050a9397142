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

/** Every message of every part, by file and code. */
const messages: readonly (readonly [name: string, message: Message])[] = (
  await Promise.all(
    sources
      .filter(
        (name) => name.endsWith('messages.ts') && name !== 'language/messages.ts' && !name.startsWith('forwarding/'),
      )
      .map(async (name) => {
        const lists: Record<string, unknown> = await import(`../../src/${name}`)
        return Object.entries(lists)
          .filter(([list]) => list.endsWith('Messages'))
          .flatMap(([, list]) => Object.entries<Message>(Object(list)))
          .map(([code, message]) => [`${name} ${code}`, message] as const)
      }),
  )
).flat()

/** Numbers of every plural category, which are names in both languages as well. */
const PLACEHOLDERS = [0, 1, 2, 3, 11, 100].map((count): unknown =>
  Object.assign(Object(count), { en: 'Ann', ar: 'آن' }),
)

/** Messages that clients know without a full stop. */
const FIXED_ENGLISH = /^features\/roulette\/|^realtime\/messages\.ts not_room_member$/

const ARABIC_LETTER = /\p{Script=Arabic}/u

test('every message is a sentence in both languages, whatever fills its placeholders', async (t) => {
  t.ok(messages.length > 100)
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
