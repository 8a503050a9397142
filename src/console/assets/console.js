// The layout of every page: keys, local times, and the menu of small screens. Pages work without it.

const search = document.querySelector('#q')
const TIMES_KEY = 'console-times'
const KEYS_KEY = 'console-keys'

/**
 * Whether a key was meant for a field.
 *
 * @param {EventTarget | null} target
 */
const isTyping = (target) =>
  target instanceof HTMLElement && target.closest('input:not([type=checkbox]), textarea, select') !== null

/** @type {readonly (readonly [string, string])[]} */
const keys = [
  ['/', 'Search'],
  ['g h', 'Home'],
  ['g a', 'Accounts'],
  ['g e', 'Events'],
  ['g u', 'Users'],
  ['g w', 'Withdrawals'],
  ['g p', 'Proposals'],
  ['g v', 'Verify'],
  ['n', 'Next page of a table'],
  ['?', 'This list'],
]
/** @type {Readonly<Record<string, string>>} */
const pages = { h: '', a: '/accounts', e: '/events', u: '/users', w: '/withdrawals', p: '/proposals', v: '/verify' }

/** Staff who dictate, or strike keys by chance, turn them off. */
const areKeysOn = () => localStorage.getItem(KEYS_KEY) !== 'off'

function showWhetherKeysAreOn() {
  const isOn = areKeysOn()
  for (const hint of document.querySelectorAll('[data-key-hint]')) {
    if (hint instanceof HTMLElement) hint.hidden = !isOn
  }
  if (isOn) search?.setAttribute('aria-keyshortcuts', '/')
  else search?.removeAttribute('aria-keyshortcuts')
}

const openKeys = () => document.querySelector('dialog.keys-list[open]')

function keysChoice() {
  const label = document.createElement('label')
  const checkbox = document.createElement('input')
  checkbox.type = 'checkbox'
  checkbox.checked = areKeysOn()
  checkbox.addEventListener('change', () => {
    localStorage.setItem(KEYS_KEY, checkbox.checked ? 'on' : 'off')
    showWhetherKeysAreOn()
  })
  label.append(checkbox, 'Keyboard shortcuts')
  return label
}

function showKeys() {
  const open = openKeys()
  if (open instanceof HTMLDialogElement) return open.close()
  const dialog = document.createElement('dialog')
  dialog.className = 'keys-list'
  dialog.setAttribute('aria-label', 'Keys')
  const article = document.createElement('article')
  const heading = document.createElement('h2')
  heading.textContent = 'Keys'
  const list = document.createElement('dl')
  list.className = 'facts'
  for (const [key, meaning] of keys) {
    const row = document.createElement('div')
    const term = document.createElement('dt')
    const text = document.createElement('dd')
    const kbd = document.createElement('kbd')
    kbd.textContent = key
    term.append(kbd)
    text.textContent = meaning
    row.append(term, text)
    list.append(row)
  }
  const close = document.createElement('button')
  close.type = 'button'
  close.textContent = 'Close'
  close.addEventListener('click', () => dialog.close())
  article.append(heading, keysChoice(), list, close)
  dialog.append(article)
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

let first = ''
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !areKeysOn()) return
  const { key } = event
  if (openKeys() !== null && key !== '?') return
  const page = pages[key]
  if (first === 'g' && page !== undefined) {
    location.assign(`/console${page}`)
  } else if (key === '/' && search instanceof HTMLInputElement) {
    event.preventDefault()
    search.focus()
    search.select()
  } else if (key === '?') {
    showKeys()
  } else if (key === 'n') {
    const next = document.querySelector('a[rel=next]')
    if (next instanceof HTMLElement) next.click()
  }
  first = key === 'g' ? 'g' : ''
})
for (const hint of document.querySelectorAll('.keys[hidden]')) if (hint instanceof HTMLElement) hint.hidden = false
document.querySelector('[data-keys]')?.addEventListener('click', showKeys)
showWhetherKeysAreOn()

// Times are written in UTC. Local ones stand in the same places, in the same form.
const switchButton = document.querySelector('[data-times]')
/** @param {number} number */
const two = (number) => String(number).padStart(2, '0')

/** @param {Date} date */
function localTime(date) {
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

function showTimes() {
  const isLocal = localStorage.getItem(TIMES_KEY) === 'local'
  for (const time of document.querySelectorAll('time')) {
    if (time.dateTime === '') continue
    const utc = (time.dataset['utc'] ??= time.textContent)
    time.textContent = isLocal ? localTime(new Date(time.dateTime)) : utc
    time.title = isLocal ? utc : ''
  }
  if (switchButton) switchButton.textContent = isLocal ? 'Show times in UTC' : 'Show local times'
}

if (switchButton) {
  const place = switchButton.closest('.time-switch')
  if (place instanceof HTMLElement) place.hidden = false
  switchButton.addEventListener('click', () => {
    localStorage.setItem(TIMES_KEY, localStorage.getItem(TIMES_KEY) === 'local' ? 'utc' : 'local')
    showTimes()
  })
}
showTimes()
// Parts that htmx puts in place have times of their own.
document.addEventListener('htmx:after:swap', () => showTimes())

// Parts that htmx asks for again and again stand still while they are read.
const pauseButton = document.querySelector('[data-pause-updates]')
if (pauseButton instanceof HTMLButtonElement) {
  let isPaused = false
  pauseButton.hidden = false
  pauseButton.addEventListener('click', () => {
    isPaused = !isPaused
    pauseButton.textContent = isPaused ? 'Resume updates' : 'Pause updates'
  })
  document.addEventListener('htmx:before:request', (event) => {
    if (isPaused) event.preventDefault()
  })
}

// A part that cannot be read stays as it was, and htmx keeps asking for it.
const updateState = document.querySelector('[data-update-state]')
if (updateState !== null) {
  /** @type {Set<string>} */
  const failing = new Set()
  /** @param {Event} event */
  const onAnswer = (event) => {
    const { ctx } = Object(event instanceof CustomEvent ? event.detail : null)
    if (ctx === undefined) return
    const isRead = event.type === 'htmx:after:swap' && ctx.response.status < 400
    if (isRead) failing.delete(ctx.request.action)
    else failing.add(ctx.request.action)
    const text =
      failing.size === 0 ? '' : 'A part of this page could not be brought up to date. If this stays, reload the page.'
    // Screen readers may read a live region again whenever it is set.
    if (updateState.textContent !== text) updateState.textContent = text
  }
  for (const type of ['htmx:after:swap', 'htmx:response:error', 'htmx:error']) {
    document.addEventListener(type, onAnswer)
  }
}

/**
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {boolean} isDisabled
 */
function disableButtons(parent, selector, isDisabled) {
  for (const button of parent.querySelectorAll(selector)) {
    if (button instanceof HTMLButtonElement) button.disabled = isDisabled
  }
}

// A form is sent once.
document.addEventListener('submit', ({ target }) => {
  if (!(target instanceof HTMLFormElement) || target.method !== 'post') return
  setTimeout(() => disableButtons(target, 'button[type=submit]', true))
})
addEventListener('pageshow', () => disableButtons(document, 'form[method=post] button[type=submit]', false))
