// The charts' script formats numbers in the browser's language when it loads, and some browsers have one that is none, such as
// en-US@posix.

try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' })
}
