import type { Decoration } from '../../schema/gifts.ts'
import type { Language, LocalizedText } from '../../schema/languages.ts'
import { escapeHtml, formatText, htmlPage } from '../http/documents/pages/html-page.ts'
import { formatNumber } from '../language/numbers.ts'
import { algorithmTexts, pageLabels, pageMessages } from './messages.ts'

/** Where the page's scripts and style sheet are served. */
export const ASSETS_PATH = '/fairness/assets'

const head = `<link rel="stylesheet" href="${ASSETS_PATH}/fairness.css">
<script type="module" src="${ASSETS_PATH}/page.js"></script>
`

/**
 * The players' page: a form that checks draws in the browser, the odds in force, and both algorithms in plain words.
 * `documents` is the page with their exact description, if this instance has it.
 */
export function playersPage(gifts: readonly Decoration[], language: Language, documents: string | null): string {
  const text = (message: LocalizedText): string => formatted(message[language])
  const list = (items: readonly LocalizedText[]): string => items.map((item) => `<li>${text(item)}</li>`).join('\n')
  const m = { ...pageMessages, ...pageLabels }
  const drawn = gifts.filter(({ odds }) => odds.length > 0)
  const other =
    language === 'ar'
      ? '<a href="?lang=en" lang="en" hreflang="en" dir="ltr">English</a>'
      : '<a href="?lang=ar" lang="ar" hreflang="ar" dir="rtl">العربية</a>'
  const body = `<p>${other}</p>
<h1>${text(m.title)}</h1>
<p>${text(m.intro)}</p>

<h2>${text(m.check)}</h2>
<noscript><p>${text(m.without_scripts)}</p></noscript>
<form id="check" hidden>
<p>${text(m.private)}</p>
<label for="pasted">${text(m.pasted)}</label>
<textarea id="pasted" rows="10" dir="ltr" spellcheck="false" autocomplete="off" required></textarea>
<label for="kept">${text(m.kept)}</label>
<textarea id="kept" rows="2" dir="ltr" spellcheck="false" autocomplete="off" aria-describedby="kept-hint"></textarea>
<p id="kept-hint">${text(m.kept_hint)}</p>
<button id="verify" type="submit">${text(m.verify)}</button>
</form>
<p id="verdict" role="status"></p>
<div id="steps"></div>
<p>${text(m.unproven)}</p>

<h2>${text(m.odds)}</h2>
${drawn.length === 0 ? `<p>${text(m.no_odds)}</p>` : drawn.map((gift) => oddsSection(gift, language)).join('\n')}

<h2 id="lg1">${text(m.lucky)}</h2>
<ol>
${list(algorithmTexts.lucky)}
</ol>
<h2 id="rr1">${text(m.roulette)}</h2>
<ol>
${list(algorithmTexts.roulette)}
</ol>
<h2>${text(m.uniform)}</h2>
${algorithmTexts.uniform.map((item) => `<p>${text(item)}</p>`).join('\n')}
${documents === null ? '' : `<p><a href="${documents}">${text(m.exact)}</a></p>`}`
  return htmlPage(m.title[language], body, { language, head })
}

/** Code is read from left to right in both languages. */
const formatted = (text: string): string => formatText(text).replaceAll('<code>', '<code dir="ltr">')

function oddsSection({ name, odds, odds_hash, return_to_player }: Decoration, language: Language): string {
  const total = odds.reduce((sum, { weight }) => sum + weight, 0)
  const rows = odds.map(
    ({ multiplier, weight }) =>
      `<tr><td>${multiplier}</td><td>${formatNumber(language, weight)}</td><td>${percent(weight / total)}</td></tr>`,
  )
  return `<h3>${escapeHtml(name)}</h3>
<p>${pageLabels.return_to_player[language]} ${percent(return_to_player ?? 0)}</p>
<p>${pageLabels.odds_hash[language]} <code dir="ltr">${odds_hash ?? ''}</code></p>
<table>
<thead><tr><th scope="col">${pageLabels.reward[language]}</th><th scope="col">${pageLabels.weight[language]}</th><th scope="col">${pageLabels.chance[language]}</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`
}

/** Small chances are not rounded to zero. */
const percent = (fraction: number): string => `<bdi>${Number((fraction * 100).toPrecision(6))}%</bdi>`
