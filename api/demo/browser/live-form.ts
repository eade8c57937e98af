import { OPEN, type Verdict } from './merchant-form.ts'
import { field, show } from './page.ts'

/** Verdicts by field id. `finished` is true once the field was left or sent; an empty field is wrong then. */
export type Validators = Readonly<Record<string, (finished: boolean) => Verdict>>

export interface LiveForm {
  validate(id: string): Verdict
  /** Regards a field as left, and shows the verdict on it. */
  leave(id: string): Verdict
  /** Regards every field as left. False if one is wrong; the first of these has the focus then. */
  validateAll(): boolean
  forget(id: string): void
}

export function liveForm(
  form: HTMLFormElement,
  validators: Validators,
  changed: (id: string) => void = () => {},
): LiveForm {
  const left = new Set<string>()
  const live: LiveForm = {
    validate(id) {
      const verdict = validators[id]?.(left.has(id)) ?? OPEN
      show(id, verdict)
      return verdict
    },
    leave(id) {
      left.add(id)
      return live.validate(id)
    },
    validateAll() {
      const wrong = Object.keys(validators).filter((id) => live.leave(id).state === 'wrong')
      const [first] = wrong
      if (first !== undefined) field(first).focus()
      return first === undefined
    },
    forget(id) {
      left.delete(id)
      show(id, OPEN)
    },
  }
  form.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return
    live.validate(target.id)
    changed(target.id)
  })
  form.addEventListener('focusout', ({ target }) => {
    if (target instanceof HTMLInputElement && target.value.trim() !== '') live.leave(target.id)
  })
  return live
}
