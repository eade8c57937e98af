/** Stripe's own form, on a page that was served with it. The card goes from Stripe's frame to Stripe. */
import { element, problemBox, tagged } from './page.ts'

interface StripeProblem {
  readonly message?: string
}

/** What this page uses of Stripe.js. */
interface StripeJs {
  elements(options: object): StripeElements
  createPaymentMethod(options: {
    readonly elements: StripeElements
  }): Promise<{ readonly paymentMethod?: { readonly id: string }; readonly error?: StripeProblem }>
}

interface StripeElements {
  create(type: 'payment'): { mount(place: HTMLElement): void }
  submit(): Promise<{ readonly error?: StripeProblem }>
}

/** Does nothing on a page without the form. `made` gets the id of each payment method. */
export function providerForm(made: (paymentMethod: string) => void): void {
  const form = document.getElementById('provider-form')
  if (!(form instanceof HTMLFormElement)) return
  const load: unknown = Reflect.get(window, 'Stripe')
  if (typeof load !== 'function') {
    show({ message: "Stripe's form could not be loaded." })
    return
  }
  const stripe: StripeJs = load(form.dataset.publishableKey)
  const elements = stripe.elements({
    mode: 'setup',
    currency: 'eur',
    paymentMethodCreation: 'manual',
    paymentMethodTypes: ['card'],
  })
  elements.create('payment').mount(element('provider-element', HTMLElement))
  const button = element('provider-submit', HTMLButtonElement)
  button.disabled = false

  const store = async (): Promise<void> => {
    const { error: refused } = await elements.submit()
    if (refused !== undefined) return show(refused)
    const { paymentMethod, error } = await stripe.createPaymentMethod({ elements })
    // It is shown as a part of a command line.
    if (paymentMethod === undefined || !/^\w+$/.test(paymentMethod.id)) return show(error ?? {})
    const text = tagged('p', 'Stripe has the card as ')
    text.append(tagged('code', paymentMethod.id), '. Your server takes it over by the last call below.')
    element('provider-result', HTMLElement).replaceChildren(text)
    made(paymentMethod.id)
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    element('provider-problem', HTMLElement).replaceChildren()
    button.disabled = true
    void store()
      .catch(() => show({ message: 'Stripe could not be reached.' }))
      .finally(() => {
        button.disabled = false
      })
  })
}

function show({ message }: StripeProblem): void {
  const box = problemBox({ title: message ?? 'Stripe took no card' }, '')
  element('provider-problem', HTMLElement).replaceChildren(box)
}
