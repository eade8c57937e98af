import { inflateSync } from 'node:zlib'
import PDFDocument from 'pdfkit'

export interface Logo {
  readonly bytes: Buffer
  readonly width: number
  readonly height: number
}

/** Before the encoding as a data URL. */
export const LOGO_BYTES = 65_536
/** The longest side: an image that unpacks to more is refused before it is unpacked. */
export const LOGO_PIXELS = 1_000

export function readLogo(dataUrl: string): Logo | { readonly problem: string } {
  const [, type, data = ''] = /^data:image\/(png|jpeg);base64,([A-Za-z0-9+/]+={0,2})$/.exec(dataUrl) ?? []
  if (type === undefined) return { problem: 'must be a data URL of a PNG or JPEG image, in Base64' }
  const bytes = Buffer.from(data, 'base64')
  if (bytes.length > LOGO_BYTES) return { problem: `must be an image of at most ${LOGO_BYTES / 1024} KiB` }
  const size = type === 'png' ? pngSize(bytes) : jpegSize(bytes)
  if (size === null)
    return {
      problem: `must be an intact ${type === 'png' ? 'PNG image that is not interlaced' : 'JPEG image'}`,
    }
  if (size.width > LOGO_PIXELS || size.height > LOGO_PIXELS) {
    return { problem: `must be an image of at most ${LOGO_PIXELS} by ${LOGO_PIXELS} pixels` }
  }
  try {
    new PDFDocument().image(bytes, 0, 0)
  } catch {
    return { problem: 'must be an image that a document can have' }
  }
  return { bytes, ...size }
}

type Size = Pick<Logo, 'width' | 'height'>

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

/** Returns null unless all pixels of the image are there. */
function pngSize(bytes: Buffer): Size | null {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(PNG) || bytes.toString('latin1', 12, 16) !== 'IHDR')
    return null
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  const [depth, colour, interlace] = [bytes[24] ?? 0, bytes[25] ?? 0, bytes[28]]
  const samples = SAMPLES[colour]
  if (samples === undefined || ![1, 2, 4, 8].includes(depth) || interlace !== 0) return null
  if (size.width === 0 || size.height === 0) return null
  if (size.width > LOGO_PIXELS || size.height > LOGO_PIXELS) return size
  const pixels: Buffer[] = []
  let hasPalette = false
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const name = bytes.toString('latin1', at + 4, at + 8)
    if (at + 12 + length > bytes.length) return null
    if (name === 'IDAT') pixels.push(bytes.subarray(at + 8, at + 8 + length))
    if (name === 'PLTE') hasPalette = length > 0
    at += 12 + length
  }
  if (colour === 3 && !hasPalette) return null
  const expected = (Math.ceil((size.width * samples * depth) / 8) + 1) * size.height
  try {
    return inflateSync(Buffer.concat(pixels), { maxOutputLength: expected }).length === expected ? size : null
  } catch {
    return null
  }
}

function jpegSize(bytes: Buffer): Size | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null
  for (let at = 2; at + 9 < bytes.length; ) {
    const marker = bytes.readUInt16BE(at)
    if (marker < 0xff00) return null
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker)
    const size = { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    if (isFrame)
      return size.width > 0 && size.height > 0 && [1, 3, 4].includes(bytes[at + 9] ?? 0) ? size : null
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return null
}
