import { test } from 'tap'
import { folded } from '../../src/language/names.ts'

test('letters that people take for the same are the same', async (t) => {
  const same: readonly (readonly string[])[] = [
    ['Amina', 'AMINA', 'amina'],
    ['Νίκος', 'ΝΊΚΟΣ', 'νίκοσ'],
    ['ΤΑΞΊΔΙ', 'ταξίδι'],
    ['ΐ', '\u03aa\u0301', '\u0399\u0308\u0301'],
    ['Strauß', 'STRAUSS', 'STRAUẞ', 'strauss'],
    ['İpek', 'ipek', 'IPEK', 'I\u0307pek', 'i\u0307pek'],
    ['ﬁlm', 'FILM'],
    ['ŉ', 'ʼN'],
    ['K', 'k'],
    ['ſ', 's'],
    ['e\u0301', 'É'],
    ['ꭰ', 'Ꭰ'],
    ['أمينة', 'أمينة'],
  ]
  for (const texts of same) t.equal(new Set(texts.map(folded)).size, 1, texts.join(' '))
  const different: readonly (readonly [string, string])[] = [
    ['Işık', 'isik'],
    ['ı', 'i'],
    ['é', 'e'],
    ['ا', 'أ'],
  ]
  for (const [one, other] of different) t.not(folded(one), folded(other), `${one} ${other}`)
})

test('no letter is different in upper and in lower case, and a folded text stays as it is', async (t) => {
  const faults: string[] = []
  for (let code = 0; code < 0x20000; code += 1) {
    const letter = String.fromCodePoint(code)
    if (/\p{Cs}/u.test(letter) || letter === 'ı') continue
    const own = folded(letter)
    if (folded(letter.toUpperCase()) !== own || folded(letter.toLowerCase()) !== own || folded(own) !== own)
      faults.push(letter)
  }
  t.same(faults, [])
})
