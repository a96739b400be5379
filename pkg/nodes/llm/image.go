package llm

import (
	"encoding/base64"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// image is an image: a URL, or base64 data with a media type.
type image struct {
	url             string
	mediaType, data string
}

// dataURL returns the image as a URL, which is a data: URL for data.
func (i *image) dataURL() string {
	if i.url != "" {
		return i.url
	}
	return "data:" + i.mediaType + ";base64," + i.data
}

// mediaTypes are the media types that both APIs accept.
var mediaTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// maxImages is the maximum size of all images together in bytes. A request to the Anthropic API may have 32 MB, and base64 takes
// four bytes for three.
const maxImages = 20 << 20

// readImages returns the images of the parameter images, with the contents of files.
func readImages(given []string) ([]image, error) {
	var all []image
	total := 0
	for _, where := range given {
		i, size, err := readImage(where, maxImages-total)
		if err != nil {
			return nil, err
		}
		total += size
		all = append(all, i)
	}
	return all, nil
}

// readImage returns an image and its size in bytes, which must be at most room. The size of a remote image is 0.
func readImage(where string, room int) (i image, size int, err error) {
	switch {
	case strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://"):
		return image{url: where}, 0, nil
	case strings.HasPrefix(where, "data:"):
		i, size, err = readDataURL(where)
	default:
		i, size, err = readImageFile(where, room)
	}
	if err != nil {
		return image{}, 0, err
	}
	if size > room {
		return image{}, 0, tooLarge(where)
	}
	return i, size, nil
}

func readDataURL(where string) (image, int, error) {
	head, data, ok := strings.Cut(strings.TrimPrefix(where, "data:"), ",")
	mediaType, isBase64 := strings.CutSuffix(head, ";base64")
	content, err := base64.StdEncoding.DecodeString(data)
	if !ok || !isBase64 || err != nil {
		return image{}, 0, fault.New(fault.Execution, "The data: URL in images is not base64: %s", fault.Truncate(where, 60)).
			Suggest("Write data:image/png;base64,… or the path of a file")
	}
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	if !slices.Contains(mediaTypes, mediaType) {
		return image{}, 0, unsupported(fault.Truncate(where, 60), mediaType)
	}
	return image{mediaType: mediaType, data: data}, len(content), nil
}

func readImageFile(path string, room int) (image, int, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return image{}, 0, fault.New(fault.Execution, "Cannot read the image %s: %v", path, fault.Reason(err)).
			Suggest("Correct the path in images; it is relative to the run's working directory")
	case !info.Mode().IsRegular():
		return image{}, 0, fault.New(fault.Execution, "The image %s is not a regular file", path).Suggest("Set images to paths of image files")
	case info.Size() > int64(room):
		return image{}, 0, tooLarge(path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return image{}, 0, fault.New(fault.Execution, "Cannot read the image %s: %v", path, fault.Reason(err))
	}
	mediaType := http.DetectContentType(content)
	if !slices.Contains(mediaTypes, mediaType) {
		mediaType, _, _ = strings.Cut(mediaType, ";")
		return image{}, 0, unsupported(path, mediaType)
	}
	return image{mediaType: mediaType, data: base64.StdEncoding.EncodeToString(content)}, len(content), nil
}

func unsupported(where, mediaType string) error {
	return fault.New(fault.Execution, "The image %s has the type %s, which the APIs do not support", where, mediaType).
		Suggest("Convert it to PNG, JPEG, GIF or WebP")
}

func tooLarge(where string) error {
	return fault.New(fault.TooLarge, "The images up to %[2]s have more than %[1]d MiB", maxImages>>20, fault.Truncate(where, 200)).
		Suggest("Reduce the images: models use at most about 1,500 pixels on each side")
}
