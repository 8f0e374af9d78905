# SPDX-License-Identifier: Apache-2.0
"""Prepare uint8 photographs for a network in plain NumPy, and ship that code as an ONNX model.

Pad to a square, resize with bilinear interpolation, crop, brighten without wrapping around,
turn BGR into RGB, normalise: uint8 (height, width, 3) of any size in, float32
(1, 3, 224, 224) out.
One model for each of several opsets serves every size. All results have to equal NumPy's, else
the script exits with status 1.

Run it with `python examples/image_preprocessing.py`; a folder as argument keeps the models.
"""

import sys
import warnings

import numpy as np
from side_by_side import in_folder, show

from onnxjit import jit_onnx, uint8
from onnxjit.errors import FallbackWarning

RESIZED, CROPPED = 256, 224
GREY = 114
LIGHTER = 12
MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
STD = np.array([0.229, 0.224, 0.225], dtype=np.float32)

HEIGHTS_AND_WIDTHS = (480, 640), (1080, 1920), (200, 90), (1, 1)


# The program: NumPy, and nothing that knows of ONNX.


def padded(image):
    """Put an image into the middle of a grey square."""
    height, width, _ = image.shape
    side = max(height, width)
    top, left = (side - height) // 2, (side - width) // 2
    around = (top, side - height - top), (left, side - width - left), (0, 0)
    return np.pad(image, around, constant_values=GREY)


def neighbours(old, new):
    """For each place in a resized axis: the two old places around it, and how far between."""
    at = np.clip((np.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)
    low = np.floor(at).astype(np.int64)
    return low, np.minimum(low + 1, old - 1), (at - low).astype(np.float32)


def resized(image, size):
    """Interpolate between four pixels; channels come first in the result."""
    top, bottom, down = neighbours(image.shape[0], size)
    left, right, along = neighbours(image.shape[1], size)

    def pixels(rows, columns):
        return image[rows][:, columns].transpose(2, 0, 1).astype(np.float32)

    upper = pixels(top, left) * (1 - along) + pixels(top, right) * along
    lower = pixels(bottom, left) * (1 - along) + pixels(bottom, right) * along
    down = down[:, None]
    return np.rint(upper * (1 - down) + lower * down).astype(np.uint8)


def cropped(image, size):
    """Cut a square out of the middle."""
    top, left = (n // 2 - size // 2 for n in image.shape[1:])
    return image[:, top : top + size, left : left + size]


def lighter(image, by):
    """Brighten; what would leave uint8 stays at its end."""
    return np.clip(image.astype(np.int16) + by, 0, 255).astype(np.uint8)


@jit_onnx
def image_preprocessing(image):
    """Return an image as a batch of one: RGB, channels first, normalised."""
    bgr = lighter(cropped(resized(padded(image), RESIZED), CROPPED), LIGHTER)
    rgb = bgr[::-1].astype(np.float32) / 255
    return ((rgb - MEAN[:, None, None]) / STD[:, None, None])[None]


def photograph(height, width):
    """Return a made-up image: waves of light, and some noise."""
    random = np.random.default_rng(0)
    y, x, channel = np.ogrid[:height, :width, :3]
    waves = 128 + 90 * np.sin(x / 40 + channel) * np.cos(y / 60)
    return np.clip(waves + random.normal(0, 20, waves.shape), 0, 255).astype(np.uint8)


def run(folder):
    """Print what comes out; True if every result was NumPy's."""
    warnings.filterwarnings("error", category=FallbackWarning)  # all of it has to be traced
    images = {f"{h} x {w}": (photograph(h, w),) for h, w in HEIGHTS_AND_WIDTHS}
    result = image_preprocessing.__wrapped__(*images["1 x 1"])
    print(f"uint8 images of any size to {result.dtype} {result.shape}\n")
    return show(image_preprocessing, images, (uint8["height", "width", 3],), folder)


if __name__ == "__main__":
    sys.exit(in_folder(run, __doc__))
