// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Shapes as pixels: filled by rows, each pixel knowing whose it is, so that the pointer can ask.

/** Shorter rows are filled faster by hand. */
const worth_a_call = 24;

export class raster {
  readonly width: number;
  readonly height: number;
  readonly #image: ImageData;
  readonly #canvas: OffscreenCanvas;
  readonly #pixels: Uint32Array;
  readonly #owner: Int32Array;

  constructor(width: number, height: number) {
    this.width = Math.max(1, Math.round(width));
    this.height = Math.max(1, Math.round(height));
    this.#image = new ImageData(this.width, this.height);
    this.#canvas = new OffscreenCanvas(this.width, this.height);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
    this.#owner = new Int32Array(this.width * this.height);
  }

  clear(): void {
    this.#pixels.fill(0);
    this.#owner.fill(-1);
  }

  /** The columns [left, right) and rows [top, bottom), cut to the image. */
  fill(left: number, right: number, top: number, bottom: number, pixel: number, owner: number) {
    left = Math.max(0, left);
    right = Math.min(this.width, right);
    top = Math.max(0, top);
    bottom = Math.min(this.height, bottom);
    if (left >= right) return;
    const pixels = this.#pixels;
    const owners = this.#owner;
    for (let row = top; row < bottom; ++row) {
      const start = row * this.width + left;
      const end = row * this.width + right;
      if (right - left > worth_a_call) {
        pixels.fill(pixel, start, end);
        owners.fill(owner, start, end);
      } else {
        for (let i = start; i < end; ++i) {
          pixels[i] = pixel;
          owners[i] = owner;
        }
      }
    }
  }

  /** Whose pixel it is; -1 outside and where nothing was filled. */
  owner_at(x: number, y: number): number {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return -1;
    return this.#owner[Math.floor(y) * this.width + Math.floor(x)];
  }

  /** Over what is there: pixels that nothing filled stay clear. */
  draw(context: CanvasRenderingContext2D, left: number, top: number): void {
    this.#canvas.getContext("2d", { willReadFrequently: true })!.putImageData(this.#image, 0, 0);
    context.drawImage(this.#canvas, Math.round(left), Math.round(top));
  }
}
