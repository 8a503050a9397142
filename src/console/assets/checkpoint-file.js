// Fields with data-drop="text" take a file that is dropped on them, as its text.

const MAX_BYTES = 10_000

/**
 * @param {HTMLTextAreaElement} field
 * @param {File} file
 */
async function take(field, file) {
  field.value = file.size > MAX_BYTES ? '' : await file.text()
  field.setCustomValidity(file.size > MAX_BYTES ? 'This file is too large to be a checkpoint.' : '')
  field.reportValidity()
}

for (const field of document.querySelectorAll('[data-drop=text]')) {
  if (!(field instanceof HTMLTextAreaElement)) continue
  for (const hint of document.querySelectorAll('.drop-hint')) if (hint instanceof HTMLElement) hint.hidden = false
  field.addEventListener('dragover', (event) => event.preventDefault())
  field.addEventListener('drop', (event) => {
    const [file] = event.dataTransfer?.files ?? []
    if (file === undefined) return
    event.preventDefault()
    void take(field, file)
  })
  field.addEventListener('input', () => field.setCustomValidity(''))
}
