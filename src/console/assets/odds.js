// Shows what a table of odds pays back while one types. The service checks the same again, before anything is saved.

/**
 * @template {HTMLElement} Kind
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
function find(parent, selector, kind) {
  const found = parent.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`)
  return found
}

const editor = find(document, '[data-odds]', HTMLElement)
const kind = find(document, 'select[name=kind]', HTMLSelectElement)
const result = find(editor, '[data-result]', HTMLElement)
/** @type {Readonly<Record<string, number>>} */
const receiverShares = JSON.parse(editor.dataset['receiverShares'] ?? '')
const UNIT = 10_000n
const MAX_TOTAL_WEIGHT = 1_000_000_000n

/**
 * A multiplier in ten-thousandths; null for what the service would refuse.
 *
 * @param {string} text
 */
function multiplierOf(text) {
  const found = /^(\d{1,5})(?:\.(\d{1,4})0*)?$/.exec(text)
  if (found === null) return null
  const [, whole = '', decimals = ''] = found
  const units = BigInt(whole) * UNIT + BigInt(decimals.padEnd(4, '0'))
  return units <= 10_000n * UNIT ? units : null
}

/** @param {string} text */
const weightOf = (text) => (/^[1-9]\d{0,9}$/.test(text) ? BigInt(text) : null)

/**
 * A fraction in per cent, rounded down to 4 decimals.
 *
 * @param {bigint} part
 * @param {bigint} whole
 */
function percent(part, whole) {
  const size = part < 0n ? -part : part
  const units = (size * 1_000_000n + (part < 0n ? whole - 1n : 0n)) / whole
  const decimals = String(units % 10_000n)
    .padStart(4, '0')
    .replace(/0+$/, '')
  return `${part < 0n && units > 0n ? '\u2212' : ''}${units / 10_000n}${decimals && `.${decimals}`} %`
}

/** @param {string} text */
const acceptable = (text) => ({ text, problem: '' })

/** @param {string} problem */
const refused = (problem) => ({ text: problem, problem })

/** What to show, and what stands against saving it. */
function judge() {
  const rows = [...editor.querySelectorAll('tbody tr')]
    .map((row) => ({
      multiplier: find(row, '[data-multiplier]', HTMLInputElement),
      weight: find(row, '[data-weight]', HTMLInputElement),
      number: find(row, 'th', HTMLElement).textContent,
    }))
    .filter(({ multiplier, weight }) => isFilled(multiplier) || isFilled(weight))
  let [paid, total] = [0n, 0n]
  for (const { multiplier, weight, number } of rows) {
    const times = multiplierOf(multiplier.value)
    const often = weightOf(weight.value)
    if (times === null) return refused(`Row ${number}: the multiplier must be 0 to 10,000 with at most 4 decimals.`)
    if (often === null) return refused(`Row ${number}: the weight must be 1 to 1,000,000,000.`)
    paid += times * often
    total += often
  }
  if (rows.length === 0) {
    return kind.value === 'lucky' ? refused('A lucky gift must have odds.') : acceptable('No odds: nothing is drawn.')
  }
  if (kind.value === 'standard') return refused('A standard gift has no odds.')
  if (total > MAX_TOTAL_WEIGHT) return refused('The weights must not add up to more than 10^9.')
  const share = receiverShares[kind.value]
  if (share === undefined) throw new Error(`the page has no share of the receiver for ${kind.value}`)
  const receiver = BigInt(share)
  const staked = total * UNIT
  const house = staked * 100n - paid * 100n - staked * receiver
  const text =
    `Return to player ${percent(paid, staked)}, to the receiver ${receiver} %, ` +
    `to the house ${percent(house, staked * 100n)}.`
  return house < 0n ? refused(`${text} Together that is more than is paid in: it cannot be saved.`) : acceptable(text)
}

/** @param {HTMLInputElement} input */
const isFilled = (input) => input.value !== '' || input.validity.badInput

function show() {
  const { text, problem } = judge()
  result.textContent = text
  result.className = problem === '' ? '' : 'alert'
  // The browser then refuses to send the form, and says why.
  find(editor, '[data-multiplier]', HTMLInputElement).setCustomValidity(problem)
}

editor.addEventListener('input', show)
kind.addEventListener('change', show)
show()
