// Shows what a table of odds pays back while one types. The service checks the same again, before anything is saved.

const editor = document.querySelector('[data-odds]')
const kind = document.querySelector('select[name=kind]')
const result = editor.querySelector('[data-result]')
const receiverShares = JSON.parse(editor.dataset.receiverShares)
const UNIT = 10_000n
const MAX_TOTAL_WEIGHT = 1_000_000_000n

/** A multiplier in ten-thousandths; null for what the service would refuse. */
function multiplierOf(text) {
  const found = /^(\d{1,5})(?:\.(\d{1,4})0*)?$/.exec(text)
  if (found === null) return null
  const units = BigInt(found[1]) * UNIT + BigInt((found[2] ?? '').padEnd(4, '0'))
  return units <= 10_000n * UNIT ? units : null
}

const weightOf = (text) => (/^[1-9]\d{0,9}$/.test(text) ? BigInt(text) : null)

/** A fraction in per cent, rounded down to 4 decimals. */
function percent(part, whole) {
  const size = part < 0n ? -part : part
  const units = (size * 1_000_000n + (part < 0n ? whole - 1n : 0n)) / whole
  const decimals = String(units % 10_000n)
    .padStart(4, '0')
    .replace(/0+$/, '')
  return `${part < 0n && units > 0n ? '\u2212' : ''}${units / 10_000n}${decimals && `.${decimals}`} %`
}

/** What to show, and what stands against saving it. */
function judge() {
  const rows = [...editor.querySelectorAll('tbody tr')]
    .map((row) => ({
      multiplier: row.querySelector('[data-multiplier]'),
      weight: row.querySelector('[data-weight]'),
      number: row.querySelector('th').textContent,
    }))
    .filter(({ multiplier, weight }) => isFilled(multiplier) || isFilled(weight))
  let [paid, total] = [0n, 0n]
  for (const { multiplier, weight, number } of rows) {
    const times = multiplierOf(multiplier.value)
    const often = weightOf(weight.value)
    if (times === null) return { problem: `Row ${number}: the multiplier must be 0 to 10,000 with at most 4 decimals.` }
    if (often === null) return { problem: `Row ${number}: the weight must be 1 to 1,000,000,000.` }
    paid += times * often
    total += often
  }
  if (rows.length === 0) {
    return kind.value === 'lucky'
      ? { problem: 'A lucky gift must have odds.' }
      : { text: 'No odds: nothing is drawn.', problem: '' }
  }
  if (kind.value === 'standard') return { problem: 'A standard gift has no odds.' }
  if (total > MAX_TOTAL_WEIGHT) return { problem: 'The weights must not add up to more than 10^9.' }
  const receiver = BigInt(receiverShares[kind.value])
  const staked = total * UNIT
  const house = staked * 100n - paid * 100n - staked * receiver
  const text =
    `Return to player ${percent(paid, staked)}, to the receiver ${receiver} %, ` +
    `to the house ${percent(house, staked * 100n)}.`
  return house < 0n ? { problem: `${text} Together that is more than is paid in: it cannot be saved.` } : { text }
}

const isFilled = (input) => input.value !== '' || input.validity.badInput

function show() {
  const { text, problem = '' } = judge()
  result.textContent = problem === '' ? text : problem
  result.className = problem === '' ? '' : 'alert'
  // The browser then refuses to send the form, and says why.
  editor.querySelector('[data-multiplier]').setCustomValidity(problem)
}

editor.addEventListener('input', show)
kind.addEventListener('change', show)
show()
