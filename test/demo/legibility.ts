/** Returns the poorest contrast of a text with its background (WCAG 2.2, 1.4.3), and the page's overflow. */
export function contrasts(): { poorest: { ratio: number; text: string }; overflow: number } {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
      const part = channel / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const ground = (element: Element | null): string => {
    if (element === null) return 'rgb(255, 255, 255)'
    const { backgroundColor } = getComputedStyle(element)
    return channels(backgroundColor)[3] === 0 ? ground(element.parentElement) : backgroundColor
  }
  let poorest = { ratio: 21, text: '' }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const { parentElement: element } = node
    if (element === null || node.textContent?.trim() === '' || !element.checkVisibility()) continue
    const [light = 0, dark = 0] = [getComputedStyle(element).color, ground(element)]
      .map(luminance)
      .sort((a, b) => b - a)
    const ratio = (light + 0.05) / (dark + 0.05)
    if (ratio < poorest.ratio) poorest = { ratio, text: node.textContent ?? '' }
  }
  return { poorest, overflow: document.documentElement.scrollWidth - innerWidth }
}
