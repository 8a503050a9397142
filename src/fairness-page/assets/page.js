import { itemName, sentences, stepName, verdictSentence } from './sentences.js'
import { verify } from './verify.js'

// The form of the page. What is pasted stays in the browser: only published odds tables are fetched.

const words = document.documentElement.lang === 'ar' ? sentences.ar : sentences.en

/**
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
function element(id, kind) {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`)
  return found
}

const form = element('check', HTMLFormElement)
const pasted = element('pasted', HTMLTextAreaElement)
const kept = element('kept', HTMLTextAreaElement)
const button = element('verify', HTMLButtonElement)
const status = element('verdict', HTMLElement)
const steps = element('steps', HTMLElement)

/** @type {Parameters<typeof verify>[2]} */
async function fetchOdds(hash) {
  try {
    const response = await fetch(`/fairness/odds/${hash}`, { credentials: 'omit' })
    if (response.status === 404) return { fault: 'oddsUnknown' }
    return response.ok ? { text: await response.text() } : { fault: 'oddsUnreachable' }
  } catch {
    return { fault: 'oddsUnreachable' }
  }
}

/**
 * @param {string} tag
 * @param {string} text
 * @param {readonly Node[]} children
 */
function make(tag, text, ...children) {
  const made = document.createElement(tag)
  if (text !== '') made.append(text)
  made.append(...children)
  return made
}

/** @param {string} text what programs read, left to right in both languages */
function code(text) {
  const made = make('code', text)
  made.dir = 'ltr'
  return made
}

/** @param {import('./sentences.js').Step} step */
function stepItem(step) {
  const mark = make('strong', words.outcomes[step.outcome])
  mark.className = step.outcome
  const title = make('p', `${stepName(words, step)}: `, mark, make('span', ` – ${words.reasons[step.reason]}`))
  const values = Object.entries(step.values).flatMap(([name, value]) => [
    make('dt', '', code(name)),
    make('dd', '', code(String(value))),
  ])
  return make('li', '', title, ...(values.length === 0 ? [] : [make('dl', '', ...values)]))
}

/**
 * @param {import('./verify.js').Checked} checked
 * @param {boolean} isOnly
 */
function itemDetails({ item, steps }, isOnly) {
  const isWrong = steps.some(({ outcome }) => outcome === 'wrong')
  const details = document.createElement('details')
  details.open = isOnly || isWrong
  const outcome = isWrong ? 'wrong' : steps.some((step) => step.outcome === 'unchecked') ? 'unchecked' : 'right'
  const mark = make('strong', words.outcomes[outcome])
  mark.className = outcome
  details.append(make('summary', `${itemName(words, item)}: `, mark), make('ol', '', ...steps.map(stepItem)))
  return details
}

/** Checks that began; the page shows the last one. */
let checks = 0

async function check() {
  checks += 1
  const own = checks
  button.disabled = true
  status.textContent = ''
  steps.replaceChildren()
  const verdict = await verify(pasted.value, kept.value, fetchOdds).catch(
    /** @returns {import('./verify.js').Verdict} */
    () => ({ verdict: 'unchecked', fault: { fault: 'failed' }, isComplete: false, checked: [] }),
  )
  if (own !== checks) return
  steps.replaceChildren(...verdict.checked.map((checked) => itemDetails(checked, verdict.checked.length === 1)))
  status.className = verdict.verdict === 'notValid' ? 'wrong' : verdict.isComplete ? 'right' : 'unchecked'
  status.textContent = verdictSentence(words, verdict)
  button.disabled = false
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void check()
})
form.hidden = false

/** A link may have what it wants checked behind its `#`, which browsers do not send. */
function checkLinked() {
  const text = decoded(location.hash.slice(1))
  // Other names are of headings.
  if (!/^\s*[{[]/.test(text)) return
  pasted.value = text
  void check()
}

/** @param {string} text which stays as it is where it cannot be decoded */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

addEventListener('hashchange', checkLinked)
checkLinked()
