import { crc32, deflateSync } from 'node:zlib'

export function pngLogo(width = 120, height = 40): string {
  const pixels = Buffer.alloc((width * 4 + 1) * height, 0x80)
  for (let row = 0; row < height; row += 1) pixels[row * (width * 4 + 1)] = 0
  return pngOf(width, height, deflateSync(pixels))
}

/** A PNG image with these bytes as its packed pixels. */
export function pngOf(width: number, height: number, packed: Buffer): string {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 6, 0, 0, 0], 8)
  const image = Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ])
  return `data:image/png;base64,${image.toString('base64')}`
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const whole = Buffer.alloc(body.length + 8)
  whole.writeUInt32BE(data.length, 0)
  body.copy(whole, 4)
  whole.writeUInt32BE(crc32(body), body.length + 4)
  return whole
}
