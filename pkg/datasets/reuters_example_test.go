package datasets_test

import (
	"fmt"
	"strings"

	"metriclab/pkg/datasets"
)

func ExampleReadReuters() {
	docs, err := datasets.ReadReuters(strings.NewReader(`<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5544" NEWID="1">
<DATE>26-FEB-1987 15:01:01.79</DATE>
<TOPICS><D>cocoa</D></TOPICS>
<TEXT>&#2;
<TITLE>BAHIA COCOA REVIEW</TITLE>
<DATELINE>    SALVADOR, Feb 26 - </DATELINE><BODY>Showers continued.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
`), "example.sgm")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(docs[0].NewID, docs[0].Topics, docs[0].Title)
	// Output: 1 [cocoa] BAHIA COCOA REVIEW
}
