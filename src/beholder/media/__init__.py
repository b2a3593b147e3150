"""Pictures: open safely, check, resize, encode, hash."""

from beholder.media.image import FORMATS as FORMATS
from beholder.media.image import MAX_PIXELS as MAX_PIXELS
from beholder.media.image import check_image as check_image
from beholder.media.image import encode_jpeg as encode_jpeg
from beholder.media.image import file_below as file_below
from beholder.media.image import file_bytes as file_bytes
from beholder.media.image import file_of as file_of
from beholder.media.image import file_sha256 as file_sha256
from beholder.media.image import film_bytes as film_bytes
from beholder.media.image import inside as inside
from beholder.media.image import load_image as load_image
from beholder.media.pixels import fit as fit
from beholder.media.video import section as section
