//go:build !noasm

package product

//go:generate go -C asm run . -out ../tile_amd64.s -stubs ../tile_amd64.go -pkg product

const assembly = true
