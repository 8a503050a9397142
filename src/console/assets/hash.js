// Hashes an event, and the one after it, in the browser: what the page shows is what is hashed.

const verdict = document.querySelector('[data-verdict]')
const textOf = (selector) => document.querySelector(selector)?.textContent

async function sha256(text) {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The bytes of the next event with another hash before them. */
const withPrevious = (text, previous) => previous + text.slice(text.indexOf('\n'))

async function check() {
  const { hash, nextHash, nextPosition } = verdict.dataset
  const computed = await sha256(textOf('[data-hashed]'))
  const row = document.querySelector('[data-computed]')
  row.querySelector('code').textContent = computed
  row.hidden = false
  if (computed !== hash) return [false, 'this browser computed another hash than the stored one.']
  if (nextHash === undefined) return [true, 'this browser computed the stored hash. No event follows yet.']
  const next = await sha256(withPrevious(textOf('[data-next-hashed]'), computed))
  return next === nextHash
    ? [true, `this browser computed the stored hash, and event ${nextPosition} was hashed with it.`]
    : [false, `this browser computed the stored hash, but event ${nextPosition} was not hashed with it.`]
}

// Without HTTPS, and elsewhere than on this machine, browsers do not hash: what the service found stays.
if (verdict && crypto.subtle) {
  const [isValid, text] = await check()
  verdict.textContent = `${isValid ? 'Valid' : 'Not valid'}: ${text}`
  verdict.className = isValid ? 'done' : 'alert'
}
