// Hashes an event, and the one after it, in the browser: the bytes that the page shows or, where these are too long for it,
// those at the address that it links to.

const verdict = document.querySelector('[data-verdict]')

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

/** @param {string} selector */
async function bytesOf(selector) {
  const { textContent, dataset } = find(document, selector, HTMLElement)
  if (dataset.address === undefined) return textContent
  const response = await fetch(dataset.address)
  // Once the session has ended, the address leads to the login page.
  if (!response.ok || response.redirected) throw new Error(`${dataset.address} did not answer with the bytes`)
  return response.text()
}

/** @param {string} text */
async function sha256(text) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * The bytes of the next event with another hash before them.
 *
 * @param {string} text
 * @param {string} previous
 */
const withPrevious = (text, previous) => previous + text.slice(text.indexOf('\n'))

/**
 * @param {HTMLElement} verdict
 * @returns {Promise<[isValid: boolean, text: string]>}
 */
async function check({ dataset: { hash, nextHash, nextPosition } }) {
  const computed = await sha256(await bytesOf('[data-hashed]'))
  const row = find(document, '[data-computed]', HTMLElement)
  find(row, 'code', HTMLElement).textContent = computed
  row.hidden = false
  if (computed !== hash) return [false, 'this browser computed another hash than the stored one.']
  if (nextHash === undefined) return [true, 'this browser computed the stored hash. No event follows yet.']
  const next = await sha256(withPrevious(await bytesOf('[data-next-hashed]'), computed))
  return next === nextHash
    ? [true, `this browser computed the stored hash, and event ${nextPosition} was hashed with it.`]
    : [false, `this browser computed the stored hash, but event ${nextPosition} was not hashed with it.`]
}

// Without HTTPS, and elsewhere than on this machine, browsers do not hash: what the service found stays.
if (verdict instanceof HTMLElement && crypto.subtle) {
  try {
    const [isValid, text] = await check(verdict)
    verdict.textContent = `${isValid ? 'Valid' : 'Not valid'}: ${text}`
    verdict.className = isValid ? 'done' : 'alert'
  } catch (error) {
    console.warn(error)
    verdict.append(' This browser could not compute the hash itself. Reload the page to try again.')
  }
}
